#include "report/markup.h"

#include "base/visible_text.h"

namespace opwright::report {

std::string markup_text(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    const std::string_view bytes = text.substr(at, point.bytes);
    at += point.bytes;
    if (bytes == "&")
      out += "&amp;";
    else if (bytes == "<")
      out += "&lt;";
    else if (bytes == ">")
      out += "&gt;";
    else if (bytes == "\"")
      out += "&quot;";
    else if (bytes == "\n")
      out += "&#10;";
    else if (bytes == "\t")
      out += "&#9;";
    else if (!point.sound || is_hidden(point.code))
      append_escape(out, point.code);
    else
      out += bytes;
  }
  return out;
}

}  // namespace opwright::report
