// What the library launches on the chip for a call: the class of its device operation, as profiler files name it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/output_spec.h"
#include "model/tensor_spec.h"

namespace opwright {

enum class LaunchChoice : std::uint8_t { kOne, kByMemory, kByLayout, kView, kNone };

struct LaunchedClass {
  std::vector<std::string_view> classes;
  LaunchChoice by = LaunchChoice::kOne;
};

std::vector<std::string_view> operations_that_launch();
// Null of an operation that the table does not have (data/launched_classes.tsv).
const LaunchedClass* find_launched(std::string_view operation);

// The class for a tensor that becomes another; "" where nothing is launched: host tensors, names of shapes alone.
std::string_view launched_class(const LaunchedClass& operation, const TensorSpec& from, const Shape& from_padded,
                                const OutputSpec& to);

}  // namespace opwright
