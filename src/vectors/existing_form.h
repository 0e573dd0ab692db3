// A configuration as the fields that the existing vector files have, and back (docs/formats/vectors.md).
//
//   {"arg0": {"type": "ttnn.Tensor", …}, "arg1": 2.0, "dtype": {"type": "DataType", …}}      arguments of an era-2
//   master
//   {"arg1": 2.0, "dtype": "DataType.BFLOAT16", "input_a_shape": "(1, 1, 32, 32)", …}         fields of a vector
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "model/op_config.h"

namespace opwright::vectors {

inline constexpr std::string_view kAbsentCell = "__ABSENT__";  // of a vector that does not pass what others pass

// The fields as a JSON object on one line. `arguments`: as recorded, or era2_arguments_of. Fails with kUnsupported when
// the form has no place for something.
Result<std::string> existing_fields(const OpConfig& config, const json::Node& arguments);
// The `arguments` of an era-2 master from the fields of a vector; what is no parameter (suite_name, …) is left out.
// Fails with kUnsupported when it is a vector of another kind.
Result<std::string> era2_arguments_from(const json::Node& vector);
// For a configuration that was not recorded as one: leading parameters by position, as a model passes them.
std::string era2_arguments_of(const OpConfig& config);

// Where a field stands in a vector: positions, input tensors, keywords.
std::string field_order(std::string_view name);

}  // namespace opwright::vectors
