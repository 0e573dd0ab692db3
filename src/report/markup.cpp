#include "report/markup.h"

#include <cstddef>

namespace opwright::report {

std::string markup_text(std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x80) {
      switch (c) {
        case '&':
          out += "&amp;";
          break;
        case '<':
          out += "&lt;";
          break;
        case '>':
          out += "&gt;";
          break;
        case '"':
          out += "&quot;";
          break;
        case '\n':
          out += "&#10;";
          break;
        case '\t':
          out += "&#9;";
          break;
        default:
          if (c < 0x20 || c == 0x7f)
            out += kReplacement;
          else
            out += static_cast<char>(c);
      }
      ++i;
      continue;
    }
    const std::size_t length = c >= 0xF0 && c < 0xF5 ? 4 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xC2 && c < 0xE0 ? 2 : 0;
    bool sound = length > 0 && i + length <= text.size();
    for (std::size_t k = 1; sound && k < length; ++k) sound = (static_cast<unsigned char>(text[i + k]) & 0xC0) == 0x80;
    // Surrogates and U+FFFE, U+FFFF are no characters either; E0 and F0 must not hide shorter ones.
    if (sound && length == 3) {
      const auto second = static_cast<unsigned char>(text[i + 1]), third = static_cast<unsigned char>(text[i + 2]);
      sound = (c != 0xE0 || second >= 0xA0) && (c != 0xED || second < 0xA0) &&
              (c != 0xEF || second != 0xBF || third < 0xBE);
    }
    if (sound && length == 4) {
      const auto second = static_cast<unsigned char>(text[i + 1]);
      sound = (c != 0xF0 || second >= 0x90) && (c != 0xF4 || second < 0x90);
    }
    if (sound)
      out += text.substr(i, length);
    else
      out += kReplacement;
    i += sound ? length : 1;
  }
  return out;
}

}  // namespace opwright::report
