// A configuration as fields with a text each, and what differs between two of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/op_config.h"

namespace opwright {

using FlatConfig = std::vector<std::pair<std::string, std::string>>;  // field -> text, sorted
// input_tensor_a.dtype -> BFLOAT16, input_tensor_a.memory.buffer -> L1, dim -> 3
FlatConfig flatten(const OpConfig& config);

struct FieldChange {
  std::string field, from, to;  // "absent" where a side has none
};
std::vector<FieldChange> changes_between(const FlatConfig& a, const FlatConfig& b);

}  // namespace opwright
