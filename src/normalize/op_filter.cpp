#include "normalize/op_filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/input.h"
#include "base/text.h"
#include "model/op_config.h"

namespace opwright::embedded {
extern const std::string_view kOperationsTsv;
extern const std::string_view kExclusionsTxt;
}  // namespace opwright::embedded

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

struct KnownOperation {
  std::string_view name;
  bool in_library = false;
  bool in_existing = false;
};

const std::vector<KnownOperation>& operation_table() {
  static const std::vector<KnownOperation> table = [] {
    std::vector<KnownOperation> rows;
    for_each_line(embedded::kOperationsTsv, [&](std::string_view line) {
      const std::size_t tab = line.find('\t');
      if (tab == std::string_view::npos || tab + 3 >= line.size()) return;
      rows.push_back({line.substr(0, tab), line[tab + 1] == '1', line[tab + 3] == '1'});
    });
    return rows;
  }();
  return table;
}

}  // namespace

Result<OpFilter> OpFilter::make(const FilterOptions& options) {
  OpFilter filter;
  filter.all_ops_ = options.all_ops;
  if (!options.ops_list_path.empty()) {
    OPWRIGHT_TRY_ASSIGN(Input input, Input::open(options.ops_list_path));
    OPWRIGHT_TRY_ASSIGN(const Text text, std::move(input).read_all());
    for_each_line(text.view(), [&](std::string_view line) {
      filter.listed_.insert(dotted(line));
      filter.listed_.insert("ttnn." + dotted(line));
    });
    if (filter.listed_.empty()) {
      return fail(ErrorCode::kBadInput,
                  fmt::format("{}: no operation names in it; one a line is expected", options.ops_list_path));
    }
  } else {
    for (const KnownOperation& row : operation_table()) {
      if (!options.like_existing || row.in_existing) filter.listed_.insert(std::string(row.name));
    }
  }
  if (!options.all_ops) {
    for_each_line(embedded::kExclusionsTxt, [&](std::string_view line) {
      filter.excluded_.insert(std::string(line.substr(0, line.find('\t'))));
    });
  }
  for (const std::string& name : options.exclude) {
    const std::string full = dotted(name);
    filter.excluded_.insert(full);
    filter.excluded_.insert("ttnn." + full);
  }
  return filter;
}

OpFilter::Verdict OpFilter::judge(std::string_view dotted_op) const {
  if (excluded_.contains(dotted_op)) return Verdict::kExcluded;
  if (all_ops_ || listed_.contains(dotted_op)) return Verdict::kKeep;
  return Verdict::kNotListed;
}

bool is_known_operation(std::string_view dotted_op) {
  const auto& names = known_operations();
  return std::binary_search(names.begin(), names.end(), dotted_op);
}

const std::vector<std::string_view>& known_operations() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> found;
    for (const KnownOperation& row : operation_table()) found.push_back(row.name);
    std::sort(found.begin(), found.end());
    return found;
  }();
  return names;
}

}  // namespace opwright::normalize
