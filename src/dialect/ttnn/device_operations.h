// What the library launches on the chip for a call: the class of its device operation, as profiler files name it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/output_spec.h"
#include "model/tensor_spec.h"

namespace opwright {

enum class DeviceChoice : std::uint8_t { kOne, kByMemory, kByLayout, kView, kNone };

struct DeviceOperation {
  std::vector<std::string_view> classes;
  DeviceChoice by = DeviceChoice::kOne;
};

// Null of an operation that the table does not have (data/device_operations.tsv).
const DeviceOperation* find_device_operation(std::string_view operation);

// The class for a tensor that becomes another; "" where nothing is launched: host tensors, names of shapes alone.
std::string_view device_class(const DeviceOperation& operation, const TensorSpec& from, const Shape& from_padded,
                              const OutputSpec& to);

}  // namespace opwright
