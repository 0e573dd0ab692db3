// Names that the existing vector files have for what a call passes.
//
//   arg3               a positional argument that is no tensor
//   input_b_dtype      of the second positional tensor
//   weight_layout      of a tensor given by keyword
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace opwright::vectors {

inline constexpr std::string_view kAbsentCell = "__ABSENT__";  // of a vector that does not pass what others pass

inline constexpr std::array<std::string_view, 6> kTensorFields{
    "shape", "dtype", "layout", "memory_config", "tensor_placement", "storage_type"};
inline constexpr std::size_t kMemoryField = 3;
static_assert(kTensorFields[kMemoryField] == "memory_config");

// Enums of these types are written by str(): `DataType.BFLOAT16`.
inline constexpr std::array<std::string_view, 6> kEnumTypes{
    "DataType", "Layout", "Topology", "SigmoidMode", "TensorMemoryLayout", "ShardOrientation"};

char input_letter(std::string_view name);  // "input_b_dtype" -> 'b'; 0 for other names

// Where a field stands in a vector: positions, input tensors, keywords.
std::string field_order(std::string_view name);

}  // namespace opwright::vectors
