// Values as JSON for scripts, and as short texts for people.
#pragma once

#include <string>

#include "model/op_config.h"

namespace opwright::jobs {

// {"tensor": {"shape": …, "dtype": …}}, {"memory": …}, {"enum": "DataType.BFLOAT16"}, {"struct": type, "fields": {…}},
// {"opaque": type, "text": …}; scalars, lists and null as themselves.
std::string value_json(const Value& value);
// {"name": value, …} in the order of the call
std::string arguments_json(const OpConfig& config);

// "[1,1,12544,32] BFLOAT8_B TILE  L1 HEIGHT_SHARDED  shard [224,32] on (0,0)-(7,6) ROW_MAJOR"
std::string tensor_line(const TensorSpec& spec);

}  // namespace opwright::jobs
