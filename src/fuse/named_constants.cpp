#include "fuse/named_constants.h"

#include <fmt/format.h>

#include <cctype>

namespace opwright::fuse {
namespace {

using gentest::Python;

constexpr std::size_t kShort = 48;  // characters that a person writes out each time

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string upper_snake(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isupper(letter) != 0 && !out.empty() && out.back() != '_') out += '_';
    out += static_cast<char>(std::toupper(letter));
  }
  return out;
}

// The last word of `ttnn.TensorMemoryLayout.WIDTH_SHARDED` that the expression has after `path`.
std::string member_after(const std::string& text, std::string_view path) {
  const std::size_t at = text.find(path);
  if (at == std::string::npos) return "";
  const std::size_t start = at + path.size();
  std::size_t end = start;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) ++end;
  return text.substr(start, end - start);
}

std::string name_for(const std::string& cls, const std::string& text) {
  const std::string layout = member_after(text, "ttnn.TensorMemoryLayout.");
  if (cls == "MemoryConfig") return layout.empty() ? "ND_SHARDED" : layout;
  if (cls.ends_with("ComputeKernelConfig")) {
    const std::string fidelity = member_after(text, "ttnn.MathFidelity.");
    return fidelity.empty() ? "COMPUTE_KERNEL_CONFIG" : upper(fidelity);
  }
  if (cls.ends_with("ProgramConfig")) return "PROGRAM_CONFIG";
  return upper_snake(cls);
}

}  // namespace

Python NamedConstants::named(Python expression) {
  const bool is_object = expression.open == '(' && expression.text.starts_with("ttnn.");
  const bool is_made = expression.text == "with_fields" && !expression.items.empty();
  if (!is_object && !is_made) {
    for (auto& [name, item] : expression.items) item = named(std::move(item));
    return expression;
  }
  const std::string text = gentest::on_one_line(expression);
  const std::string& of = is_made ? expression.items[0].second.text : expression.text;
  if (text.size() <= kShort || text.find("device") != std::string::npos) return expression;
  const auto [found, is_new] = names_.try_emplace(text);
  if (is_new) {
    const std::string wanted = name_for(of.substr(of.rfind('.') + 1), text);
    const int times = ++times_[wanted];
    found->second = times == 1 ? wanted : fmt::format("{}_{}", wanted, times);
    list_.emplace_back(found->second, std::move(expression));
  }
  return Python::atom(found->second);
}

}  // namespace opwright::fuse
