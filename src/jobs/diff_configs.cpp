#include "jobs/diff_configs.h"

#include <set>

#include "jobs/question.h"

namespace opwright::jobs {

Result<ConfigsDiff> diff_configs(const DiffOptions& options) {
  OPWRIGHT_TRY_ASSIGN(const select::Selector selector, parse_where(options.where));
  OPWRIGHT_TRY_ASSIGN(const auto filter, normalize::OpFilter::make({.all_ops = options.all_ops}));
  ConfigsDiff out;
  OPWRIGHT_TRY_ASSIGN(out.a, load_configs(options.a, filter, selector, options.wait_ms));
  OPWRIGHT_TRY_ASSIGN(out.b, load_configs(options.b, filter, selector, options.wait_ms));
  std::set<std::string> names;
  for (const auto& [op, configs] : out.a.by_op) names.insert(op);
  for (const auto& [op, configs] : out.b.by_op) names.insert(op);
  static const std::vector<OpConfig> kNone;
  const auto of = [](const ConfigSet& set, const std::string& op) -> const std::vector<OpConfig>& {
    const auto found = set.by_op.find(op);
    return found == set.by_op.end() ? kNone : found->second;
  };
  for (const std::string& op : names) {
    OperationDiff diff = diff_operation(op, of(out.a, op), of(out.b, op));
    out.same += diff.same;
    out.changed += static_cast<std::int64_t>(diff.changed.size());
    out.removed += static_cast<std::int64_t>(diff.removed.size());
    out.added += static_cast<std::int64_t>(diff.added.size());
    out.operations.push_back(std::move(diff));
  }
  return out;
}

}  // namespace opwright::jobs
