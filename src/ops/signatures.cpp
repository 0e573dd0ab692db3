#include "ops/signatures.h"

#include <unordered_map>
#include <vector>

namespace opwright::embedded {
extern const std::string_view kSignaturesTsv;
}

namespace opwright {
namespace {

using Table = std::unordered_map<std::string_view, std::vector<std::string_view>>;

Table read_table(std::string_view text) {
  Table table;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t tab = line.find('\t');
    if (line.empty() || line.front() == '#' || tab == std::string_view::npos) continue;
    std::vector<std::string_view>& names = table[line.substr(0, tab)];
    std::string_view rest = line.substr(tab + 1);
    while (!rest.empty()) {
      const std::size_t space = std::min(rest.find(' '), rest.size());
      if (space > 0) names.push_back(rest.substr(0, space));
      rest.remove_prefix(std::min(space + 1, rest.size()));
    }
  }
  return table;
}

}  // namespace

std::span<const std::string_view> signature_of(std::string_view dotted_op) {
  static const Table table = read_table(embedded::kSignaturesTsv);
  const auto found = table.find(dotted_op);
  return found == table.end() ? std::span<const std::string_view>() : std::span<const std::string_view>(found->second);
}

}  // namespace opwright
