// Layer and RMS norm of rows, with the roundings of the device: what the kernels of all norms over the last dimension
// share.
#pragma once

#include <cstdint>

#include "device/sim/kernel.h"
#include "device/sim/reduce_engine.h"
#include "dialect/ttnn/compute_config.h"
#include "model/host_tensor.h"

namespace opwright::sim {

struct RowNorm {
  bool center = false;  // layer norm: subtracts the mean
  float epsilon = 0;
  bool legacy_rsqrt = false;  // the program configuration asks for the old square root and reciprocal
  ComputeConfig config;
  std::int64_t shard_width = 0;  // columns of a core, whose sums are added in a second step; 0: one core has the row
  const HostTensor* input = nullptr;
  const HostTensor* residual = nullptr;
  const HostTensor* weight = nullptr;
  const HostTensor* bias = nullptr;
};

// The normalised rows in an output of that spec, packed.
HostTensor normalize_rows(const RowNorm& norm, const OutputSpec& output);

// scaler x the sum of squares of one row. `squares` is room for a row.
float sum_of_squares(std::span<const float> row, float scaler, EngineMode mode, std::vector<float>& squares);
// x / sqrt(variance + epsilon) of one row of source values, scaled and moved; in place, before the pack.
void scale_row(std::span<float> row, float variance, const RowNorm& norm);

// Columns of one core, when the tensor is cut along its width; else 0.
std::int64_t shard_width_of(const TensorSpec& spec);

// Reciprocals after one step of Newton's method from a fixed guess, as old kernels and approximate modes have them.
float approximate_reciprocal(float value);
// 1 / sqrt(value) in the destination register; `legacy` by halving the exponent and an approximate reciprocal.
float norm_rsqrt(float value, bool legacy, const ComputeConfig& config);

// Only float tensors: the library takes integer weights too, but no kernel computes with them.
Checked<void> admit_floats(const BoundCall& call, std::span<const std::string_view> params);

// ttnn.layer_norm and ttnn.rms_norm.
Checked<void> admit_row_norm(const BoundCall& call, std::span<const OutputSpec> outputs, const Board& board);
Checked<std::vector<HostTensor>> run_row_norm(const KernelJob& job, bool center, const ComputeConfig& defaults);

}  // namespace opwright::sim
