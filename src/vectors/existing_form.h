// A configuration as the fields that the existing vector files have, and back (docs/formats/vectors.md).
//
//   {"arg0": {"type": "ttnn.Tensor", …}, "arg1": 2.0, "dtype": {"type": "DataType", …}}      arguments of an era-2
//   master
//   {"arg1": 2.0, "dtype": "DataType.BFLOAT16", "input_a_shape": "(1, 1, 32, 32)", …}         fields of a vector
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "model/op_config.h"

namespace opwright::vectors {

struct NamedJson {
  std::string name;
  std::string json;  // on one line, as Python writes it
};
// {"name": json, …}
std::string object_of(const std::vector<NamedJson>& members);

// The fields of a vector. `arguments`: as recorded, or era2_arguments_of. Fails with kUnsupported when the form has no
// place for something.
Result<std::vector<NamedJson>> existing_fields(const OpConfig& config, const json::Node& arguments);
// The `arguments` of an era-2 master from the fields of a vector, positions first, then keywords by name; what is no
// parameter (suite_name, …) is left out. Fails with kUnsupported when it is a vector of another kind.
Result<std::vector<NamedJson>> era2_arguments_from(const json::Node& vector);
// For a configuration that was not recorded as one: leading parameters by position, as a model passes them.
std::string era2_arguments_of(const OpConfig& config);

}  // namespace opwright::vectors
