// Reductions over dimensions of a tensor, with the roundings of the device.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "device/sim/kernel.h"
#include "device/sim/reduce_engine.h"
#include "model/host_tensor.h"

namespace opwright::sim {

enum class Reduction : std::uint8_t { kSum, kMean, kMax, kMin };
std::optional<Reduction> find_reduction(std::string_view name);  // "sum", as the last part of the operator's name

// The dimensions of `input` in `dims` (ascending), one after the other from the last; each result is packed as `out`.
// Sums are multiplied by `factor`, means also divided by the number of values.
HostTensor reduce_tensor(const HostTensor& input, const std::vector<std::size_t>& dims, Reduction kind, double factor,
                         EngineMode mode, const OutputSpec& out);

// A whole kernel: dimensions `dim` of `input_tensor`.
Checked<std::vector<HostTensor>> run_reduction(const KernelJob& job, Reduction kind);

}  // namespace opwright::sim
