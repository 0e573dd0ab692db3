#include "vectors/module_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "model/op_config.h"
#include "normalize/op_filter.h"

namespace opwright::vectors {
namespace {

constexpr std::string_view kSuffix = "_model_traced";

// ttnn.experimental.deepseek.x -> experimental_deepseek_x
std::string joined(std::string_view op) {
  if (op.starts_with("ttnn.")) op.remove_prefix(5);
  std::string out(op);
  std::replace(out.begin(), out.end(), '.', '_');
  return out;
}

// The order in which the existing tooling looks a short name up; then any other.
int precedence(std::string_view op, std::string_view name) {
  constexpr std::array<std::string_view, 6> kFirst{"ttnn.",       "ttnn.experimental.", "ttnn.transformer.",
                                                   "ttnn.moreh.", "ttnn.kv_cache.",     "ttnn.prim."};
  for (std::size_t i = 0; i < kFirst.size(); ++i)
    if (op.size() == kFirst[i].size() + name.size() && op.starts_with(kFirst[i])) return static_cast<int>(i);
  return kFirst.size();
}

std::string_view op_called(std::string_view name) {
  using Names = std::map<std::string, std::string_view, std::less<>>;
  static const auto tables = [] {
    std::pair<Names, Names> both;  // by the last part, by the whole name
    for (const std::string_view op : normalize::known_operations()) {
      const std::string_view last = short_name(op);
      const auto [known, is_new] = both.first.emplace(last, op);
      if (!is_new && precedence(op, last) < precedence(known->second, last)) known->second = op;
      both.second.emplace(joined(op), op);
    }
    return both;
  }();
  if (const auto found = tables.first.find(name); found != tables.first.end()) return found->second;
  if (const auto found = tables.second.find(name); found != tables.second.end()) return found->second;
  return {};
}

std::string op_of_name(std::string_view name) {
  const std::string_view known = op_called(name);
  return known.empty() ? fmt::format("ttnn.{}", name) : std::string(known);
}

bool is_file_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

std::string module_of_traced(std::string_view op) {
  for (const std::string& name : {std::string(short_name(op)), joined(op)})
    if (is_file_name(name) && op_of_name(name) == op) return fmt::format("model_traced.{}{}", name, kSuffix);
  return "";
}

std::string module_of_case_lines(std::string_view op) {
  std::string name = joined(op);
  for (char& c : name)
    if (!is_file_name(std::string_view(&c, 1))) c = '_';
  return "case_lines." + name;
}

std::string op_of_module(std::string_view module) {
  module = module.substr(module.rfind('.') == std::string_view::npos ? 0 : module.rfind('.') + 1);
  if (!module.ends_with(kSuffix) || module.size() == kSuffix.size()) return "";
  module.remove_suffix(kSuffix.size());
  return op_of_name(module);
}

}  // namespace opwright::vectors
