#include "perf/attributes.h"

#include <algorithm>
#include <array>

namespace opwright::perf {
namespace {

constexpr std::array<std::string_view, 10> kVolatileParts{"semaphore", "address",   "update_idx", "batch_idx",
                                                          "token_idx", "user_id",   "queue_id",   "cur_pos",
                                                          "seed",      "runtime_id"};

bool is_volatile(std::string_view name) {
  return std::any_of(kVolatileParts.begin(), kVolatileParts.end(),
                     [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

// Behind `'name': ` or `'value'`; npos when the text is another.
std::size_t quoted_end(std::string_view cell, std::size_t at, std::string_view& text) {
  if (at >= cell.size()) return std::string_view::npos;
  const char quote = cell[at];
  if (quote != '\'' && quote != '"') {  // a bare value
    std::size_t end = at;
    while (end < cell.size() && cell[end] != ';' && cell[end] != '}') ++end;
    text = cell.substr(at, end - at);
    return end;
  }
  std::size_t end = at + 1;
  while (end < cell.size() && cell[end] != quote) end += cell[end] == '\\' ? 2 : 1;
  if (end >= cell.size()) return std::string_view::npos;
  text = cell.substr(at + 1, end - at - 1);
  return end + 1;
}

}  // namespace

std::vector<std::pair<std::string_view, std::string_view>> attributes_of(std::string_view cell) {
  std::vector<std::pair<std::string_view, std::string_view>> out;
  if (cell.size() < 2 || cell.front() != '{' || cell.back() != '}') return out;
  std::size_t at = 1;
  while (at < cell.size() && cell[at] != '}') {
    std::string_view name, value;
    at = quoted_end(cell, at, name);
    if (at == std::string_view::npos || at >= cell.size() || cell[at] != ':') return {};
    at = std::min(cell.find_first_not_of(' ', at + 1), cell.size());
    at = quoted_end(cell, at, value);
    if (at == std::string_view::npos) return {};
    out.emplace_back(name, value);
    at = std::min(cell.find_first_not_of(" ;,", at), cell.size());
  }
  return out;
}

std::string_view attribute(std::string_view cell, std::string_view name) {
  for (const auto& [key, value] : attributes_of(cell))
    if (key == name) return value;
  return {};
}

std::string stable_attributes(std::string_view cell) {
  const auto all = attributes_of(cell);
  if (std::none_of(all.begin(), all.end(), [](const auto& entry) { return is_volatile(entry.first); }))
    return std::string(cell);
  std::string out = "{";
  for (const auto& [name, value] : all) {
    if (is_volatile(name)) continue;
    if (out.size() > 1) out += "; ";
    out.append("'").append(name).append("': '").append(value).append("'");
  }
  return out + "}";
}

}  // namespace opwright::perf
