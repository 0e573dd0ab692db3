// Texts of tables, word by word.
#pragma once

#include <string_view>

namespace opwright {

// What stands before the next `end`, and takes both away: all of it where there is none.
inline std::string_view take(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  const std::string_view word = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return word;
}

}  // namespace opwright
