// What is different between two configurations, field by field, and which configuration became which.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/config_set.h"

namespace opwright::cli {

using FlatConfig = std::vector<std::pair<std::string, std::string>>;  // field -> text, sorted
// input_tensor_a.dtype -> BFLOAT16, input_tensor_a.memory.buffer -> L1, dim -> 3
FlatConfig flatten(const OpConfig& config);

struct FieldChange {
  std::string field, from, to;  // "absent" where a side has none
};
std::vector<FieldChange> changes_between(const FlatConfig& a, const FlatConfig& b);

struct ConfigPair {
  const OpConfig* from;
  const OpConfig* to;
  std::vector<FieldChange> changes;
};

struct OperationDiff {
  std::string op;
  std::int64_t same = 0;
  std::vector<const OpConfig*> removed, added;
  std::vector<ConfigPair> changed;  // nearest ones, at most half of whose fields differ
};
// Both lists sorted by key.
OperationDiff diff_operation(const std::string& op, const std::vector<OpConfig>& a, const std::vector<OpConfig>& b);

}  // namespace opwright::cli
