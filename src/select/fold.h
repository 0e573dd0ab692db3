// Case does not count in a selector. Folded means: ASCII letters in lower case.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace opwright::select {

constexpr char fold(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline std::string fold(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = fold(c);
  return out;
}

// Folded, and with `.` for `::`: one spelling of every dotted name.
inline void append_folded_name(std::string& out, std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ':' && i + 1 < text.size() && text[i + 1] == ':') {
      out += '.';
      ++i;
    } else {
      out += fold(text[i]);
    }
  }
}

inline std::string fold_name(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  append_folded_name(out, text);
  return out;
}

// `folded` has no upper-case letters; `text` may.
inline bool equals_folded(std::string_view text, std::string_view folded) {
  return text.size() == folded.size() &&
         std::equal(text.begin(), text.end(), folded.begin(), [](char a, char b) { return fold(a) == b; });
}

inline bool contains_folded(std::string_view text, std::string_view folded) {
  return std::search(text.begin(), text.end(), folded.begin(), folded.end(),
                     [](char a, char b) { return fold(a) == b; }) != text.end() ||
         folded.empty();
}

}  // namespace opwright::select
