// Arguments as JSON for scripts, and tensors as short texts for people.
#pragma once

#include <string>

#include "model/op_config.h"

namespace opwright::jobs {

// {"name": value, …} in the order of the call, values as shown_value() has them
std::string arguments_json(const OpConfig& config);

// "[1,1,12544,32] BFLOAT8_B TILE  L1 HEIGHT_SHARDED  shard [224,32] on (0,0)-(7,6) ROW_MAJOR"
std::string tensor_line(const TensorSpec& spec);

}  // namespace opwright::jobs
