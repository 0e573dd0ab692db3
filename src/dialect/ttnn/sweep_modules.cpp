#include "dialect/ttnn/sweep_modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/file_name.h"
#include "base/text.h"
#include "dialect/ttnn/ttnn.h"
#include "model/op_config.h"

namespace opwright {
namespace {

constexpr std::string_view kSuffix = "_model_traced";
constexpr std::size_t kLongestName = 100;  // a file is called after it, with a group and endings: 255 bytes at most

std::string with_underscores(std::string_view dotted) {
  std::string out(dotted);
  std::replace(out.begin(), out.end(), '.', '_');
  return out;
}

std::string_view without_library(std::string_view op) { return op.starts_with("ttnn.") ? op.substr(5) : op; }

// ttnn.experimental.deepseek.x -> experimental_deepseek_x
std::string joined(std::string_view op) { return with_underscores(without_library(op)); }

// ttnn.experimental.deepseek.x -> x_experimental_deepseek
std::string name_then_family(std::string_view op) {
  const std::string_view name = short_name(op), whole = without_library(op);
  if (whole.size() <= name.size()) return std::string(name);
  return fmt::format("{}_{}", name, with_underscores(whole.substr(0, whole.size() - name.size() - 1)));
}

// Which of several operations with one last part the existing module of that name runs.
int precedence(std::string_view op, std::string_view name) {
  constexpr std::array<std::string_view, 6> kFirst{"ttnn.",       "ttnn.transformer.", "ttnn.experimental.",
                                                   "ttnn.moreh.", "ttnn.kv_cache.",    "ttnn.prim."};
  for (std::size_t i = 0; i < kFirst.size(); ++i)
    if (op.size() == kFirst[i].size() + name.size() && op.starts_with(kFirst[i])) return static_cast<int>(i);
  return kFirst.size();
}

std::string_view op_called(std::string_view name) {
  using Names = std::map<std::string, std::string_view, std::less<>>;
  static const auto tables = [] {
    std::array<Names, 3> all;  // by the last part, with the family behind it, with it in front (as we once wrote it)
    for (const KnownOperation& known_op : ttnn_dialect().tables().known()) {
      const std::string_view op = known_op.name;
      const std::string_view last = short_name(op);
      const auto [known, is_new] = all[0].emplace(last, op);
      if (!is_new && precedence(op, last) < precedence(known->second, last)) known->second = op;
      all[1].emplace(name_then_family(op), op);
      all[2].emplace(joined(op), op);
    }
    return all;
  }();
  for (const Names& table : tables)
    if (const auto found = table.find(name); found != table.end()) return found->second;
  return {};
}

std::string op_of_name(std::string_view name) {
  const std::string_view known = op_called(name);
  return known.empty() ? fmt::format("ttnn.{}", name) : std::string(known);
}

bool is_file_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// A file of an operation that nobody knows must not take the place of another's where case does not count.
bool is_lower(std::string_view name) {
  return std::none_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace

std::string module_of_traced(std::string_view op) {
  for (const std::string& name : {std::string(short_name(op)), name_then_family(op), joined(op)})
    if (is_file_name(name) && (is_lower(name) || !op_called(name).empty()) && op_of_name(name) == op)
      return fmt::format("model_traced.{}{}", name, kSuffix);
  return "";
}

std::string module_of_case_lines(std::string_view op) {
  std::string name = lower_file_name_part(joined(op), kLongestName);
  std::replace(name.begin(), name.end(), '-', '_');
  return "case_lines." + name;
}

std::string op_of_module(std::string_view module) {
  module = last_part(module, ".");
  if (!module.ends_with(kSuffix) || module.size() == kSuffix.size()) return "";
  module.remove_suffix(kSuffix.size());
  return op_of_name(module);
}

}  // namespace opwright
