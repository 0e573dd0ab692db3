// Softmax with the roundings of the device: exp and reciprocal of the vector unit, the rest on the matrix engine.
#pragma once

#include <cstdint>
#include <span>

#include "device/sim/kernel.h"
#include "device/sim/reduce_engine.h"
#include "dialect/ttnn/compute_config.h"
#include "model/host_tensor.h"

namespace opwright::sim {

struct SoftmaxMode {
  EngineMode engine;
  bool approx = true;  // exp as a shifted integer, the reciprocal after one step of Newton's method
  bool stable = true;  // subtracts the largest value first
};
// Defaults of the softmax family where the call names no compute configuration.
SoftmaxMode softmax_mode(const BoundCall& call, DType input, bool stable, const Board& board);

// e^x in the destination register, for each value.
void softmax_exp(std::span<float> values, const SoftmaxMode& mode);
float softmax_reciprocal(float value, const SoftmaxMode& mode);

// One row in place, before the pack. `mask` may be empty: nothing is scaled or added then.
void softmax_row(std::span<float> row, float scale, std::span<const float> mask, const SoftmaxMode& mode);

// Softmax along the last dimension (with scale and mask where given) or another.
Checked<std::vector<HostTensor>> run_softmax(const KernelJob& job, std::size_t dim, const SoftmaxMode& mode);

}  // namespace opwright::sim
