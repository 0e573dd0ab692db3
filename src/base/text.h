// Small things about text that every room needs.
#pragma once

#include <string_view>

namespace opwright {

constexpr bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Without the white space around it.
constexpr std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// `ttnn.DataType.BFLOAT16`, `DataType::BFLOAT16` -> `BFLOAT16`: what stands behind the last separator.
constexpr std::string_view last_part(std::string_view name, std::string_view separators = ".:") {
  const std::size_t at = name.find_last_of(separators);
  return at == std::string_view::npos ? name : name.substr(at + 1);
}

}  // namespace opwright
