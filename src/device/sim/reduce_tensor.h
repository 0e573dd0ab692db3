// Reductions over dimensions of a tensor, with the roundings of the device.
#pragma once

#include <string_view>
#include <vector>

#include "device/sim/kernel.h"
#include "device/sim/reduce_engine.h"
#include "model/host_tensor.h"

namespace opwright::sim {

// How the device reduces. Without `fold` the matrix engine sums; else the vector unit takes value after value, in
// numbers that hold every float32 and every 32-bit integer, and what it holds is a float32 (an integer).
struct Reduction {
  std::string_view name;  // the last part of the operator's name
  double (*fold)(double held, double next) = nullptr;
  bool divides = false;  // by the number of values
  bool squares = false;  // takes what is left of each value without their mean, squared, and divides
  bool root = false;     // of that
};
const Reduction* find_reduction(std::string_view name);  // null: there is none of that name

// The dimensions of `input` in `dims` (ascending), one after the other from the last; each result is packed as `out`.
// Sums are multiplied by `factor`, means also divided by the number of values.
HostTensor reduce_tensor(const HostTensor& input, const std::vector<std::size_t>& dims, const Reduction& how,
                         double factor, EngineMode mode, const OutputSpec& out);

// A whole kernel: dimensions `dim` of `input_tensor`.
Checked<std::vector<HostTensor>> run_reduction(const KernelJob& job, const Reduction& how);

}  // namespace opwright::sim
