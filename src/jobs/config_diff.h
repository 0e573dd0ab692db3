// What is different between two configurations, field by field, and which configuration became which.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "jobs/config_set.h"
#include "model/config_fields.h"

namespace opwright::jobs {

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

}  // namespace opwright::jobs
