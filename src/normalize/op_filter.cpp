#include "normalize/op_filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/input.h"
#include "base/text.h"
#include "dialect/dialect.h"

namespace opwright::normalize {
namespace {

template <class F>
void for_each_line(std::string_view text, F&& use) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    if (!line.empty() && line.front() != '#') use(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

Result<OpFilter> OpFilter::make(const FilterOptions& options) {
  OpFilter filter;
  filter.all_ops_ = options.all_ops;
  if (!options.ops_list_path.empty()) {
    OPWRIGHT_TRY_ASSIGN(Input input, Input::open(options.ops_list_path));
    OPWRIGHT_TRY_ASSIGN(const Text text, std::move(input).read_all());
    for_each_line(text.view(), [&](std::string_view line) {
      for (std::string& name : possible_operations(line)) filter.listed_.insert(std::move(name));
    });
    if (filter.listed_.empty()) {
      return fail(ErrorCode::kBadInput,
                  fmt::format("{}: no operation names in it; one a line is expected", options.ops_list_path));
    }
    filter.own_list_ = true;
  }
  filter.like_existing_ = options.like_existing;
  for (const std::string& name : options.exclude)
    for (std::string& full : possible_operations(name)) filter.excluded_.insert(std::move(full));
  return filter;
}

OpFilter::Verdict OpFilter::judge(std::string_view operation) const {
  if (excluded_.contains(operation)) return Verdict::kExcluded;
  if (all_ops_) return Verdict::kKeep;
  const Dialect& dialect = dialect_of(operation);
  const OperationTables& tables = dialect.tables();
  if (tables.excludes(operation)) return Verdict::kExcluded;
  bool listed = false;
  if (own_list_)
    listed = listed_.contains(operation);
  else if (like_existing_)
    listed = tables.in_existing(operation);
  else
    listed = dialect.keeps_unlisted || tables.is_known(operation);
  return listed ? Verdict::kKeep : Verdict::kNotListed;
}

}  // namespace opwright::normalize
