#include "dialect/operation_tables.h"

#include <algorithm>

namespace opwright {
namespace {

// Lines of a data file without comments and blank ends.
template <class F>
void for_each_line(std::string_view text, F&& visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.front() != '#') visit(line);
  }
}

}  // namespace

OperationTables::OperationTables(const Texts& texts) {
  for_each_line(texts.operations, [&](std::string_view line) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos || tab + 3 >= line.size()) return;
    known_.push_back({line.substr(0, tab), line[tab + 3] == '1'});
  });
  for_each_line(texts.exclusions, [&](std::string_view line) { excluded_.insert(line.substr(0, line.find('\t'))); });
  for_each_line(texts.signatures, [&](std::string_view line) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) return;
    const std::string_view operation = line.substr(0, tab);
    std::vector<std::string_view>& names = signatures_[operation];
    std::string_view rest = line.substr(tab + 1);
    while (!rest.empty()) {
      const std::size_t space = std::min(rest.find(' '), rest.size());
      if (space > 0) names.push_back(rest.substr(0, space));
      rest.remove_prefix(std::min(space + 1, rest.size()));
    }
    if (texts.operations.empty()) known_.push_back({operation, false});
  });
  std::ranges::sort(known_, {}, &KnownOperation::name);
}

const KnownOperation* OperationTables::find(std::string_view operation) const {
  const auto found = std::ranges::lower_bound(known_, operation, {}, &KnownOperation::name);
  return found != known_.end() && found->name == operation ? &*found : nullptr;
}

bool OperationTables::in_existing(std::string_view operation) const {
  const KnownOperation* known = find(operation);
  return known != nullptr && known->in_existing;
}

std::span<const std::string_view> OperationTables::signature(std::string_view operation) const {
  const auto found = signatures_.find(operation);
  return found == signatures_.end() ? std::span<const std::string_view>() : found->second;
}

}  // namespace opwright
