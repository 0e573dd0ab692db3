#include "base/json_write.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/visible_text.h"

namespace opwright::json {
namespace {

// Needs no escape in either style. All bytes are looked at: without an early end the compiler looks at many at once.
bool is_plain(std::string_view text) {
  unsigned special = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    special |= static_cast<unsigned>(byte < 0x20) | static_cast<unsigned>(byte >= 0x7f) |
               static_cast<unsigned>(byte == '"') | static_cast<unsigned>(byte == '\\');
  }
  return special == 0;
}

// Reads one code point of UTF-8 at `i` and moves behind it; bytes that are no UTF-8 come back one by one, as they are.
std::uint32_t next_code_point(std::string_view text, std::size_t& i) {
  const CodePoint point = code_point_at(text, i);
  i += point.bytes;
  return point.code;
}

// What Python's repr shows as it is, beyond ASCII: all but blanks, controls, marks of direction and unassigned planes.
bool is_printable(std::uint32_t code) {
  const auto within = [code](std::uint32_t from, std::uint32_t to) { return code >= from && code <= to; };
  const bool hidden = code <= 0xA0 || code == 0xAD || code == 0x1680 || within(0x2000, 0x200F) ||
                      within(0x2028, 0x202F) || within(0x205F, 0x206F) || code == 0x3000 || within(0xD800, 0xF8FF) ||
                      code == 0xFEFF || within(0xFFF0, 0xFFFB);
  return !hidden;
}

void newline(std::string& out, int indent, int level) {
  out += '\n';
  out.append(static_cast<std::size_t>(indent) * static_cast<std::size_t>(level), ' ');
}

void append_repr_string(std::string& out, std::string_view text) {
  const char quote = text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos ? '"' : '\'';
  out += quote;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t start = i;
    const std::uint32_t code = next_code_point(text, i);
    if (code >= 0x80) {
      if (is_printable(code))
        out += text.substr(start, i - start);
      else
        out += code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
      continue;
    }
    const char c = static_cast<char>(code);
    if (c == '\\')
      out += "\\\\";
    else if (c == quote)
      (out += '\\') += c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\t')
      out += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  out += quote;
}

}  // namespace

void append_quoted(std::string& out, std::string_view text, bool ascii) {
  out += '"';
  if (is_plain(text)) {
    out += text;
  } else {
    for (std::size_t i = 0; i < text.size();) {
      const auto byte = static_cast<unsigned char>(text[i]);
      if (!ascii && byte >= 0x7f) {
        out += text[i++];
        continue;
      }
      const std::uint32_t code = next_code_point(text, i);
      switch (code) {
        case '"':
          out += "\\\"";
          break;
        case '\\':
          out += "\\\\";
          break;
        case '\n':
          out += "\\n";
          break;
        case '\r':
          out += "\\r";
          break;
        case '\t':
          out += "\\t";
          break;
        case '\b':
          out += "\\b";
          break;
        case '\f':
          out += "\\f";
          break;
        default:
          if (code >= 0x20 && code < 0x7f) {
            out += static_cast<char>(code);
          } else if (code > 0xFFFF) {
            const std::uint32_t rest = code - 0x10000;
            out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
          } else {
            out += fmt::format("\\u{:04x}", code);
          }
      }
    }
  }
  out += '"';
}

void append_float(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    out += value < 0 ? "-Infinity" : "Infinity";
    return;
  }
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::scientific).ptr;
  const std::string_view text(digits, static_cast<std::size_t>(end - digits));
  const std::size_t e = text.find('e');
  int exponent = 0;
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), text.data() + text.size(), exponent);
  if (exponent < -4 || exponent >= 16) {  // Python's rule for repr: exponent form with at least two digits
    out += text.substr(0, e);
    out += fmt::format("e{}{:02d}", exponent < 0 ? '-' : '+', std::abs(exponent));
    return;
  }
  const auto fixed_end = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed).ptr;
  const std::string_view fixed(digits, static_cast<std::size_t>(fixed_end - digits));
  out += fixed;
  if (fixed.find('.') == std::string_view::npos) out += ".0";
}

std::string float_text(double value) {
  std::string text;
  append_float(text, value);
  return text;
}

std::string figure_text(double value) {
  if (std::isfinite(value)) return float_text(value);
  return std::isnan(value) ? "\"nan\"" : value < 0 ? "\"-inf\"" : "\"inf\"";
}

std::optional<double> figure_of(const Node& node) {
  if (!node.is(Kind::kNumber) && !node.is(Kind::kString)) return std::nullopt;
  const std::string_view text = node.text;
  if (text == "inf" || text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-inf" || text == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (text == "nan" || text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (!node.is(Kind::kNumber)) return std::nullopt;
  return std::strtod(std::string(text).c_str(), nullptr);  // a number too large is infinite, as Python reads it
}

void append_number(std::string& out, std::string_view token) {
  if (token.find_first_of("eE.") == std::string_view::npos) {
    out += token == "-0" ? "0" : token;  // whole numbers, and the names Infinity and NaN
    return;
  }
  double value = 0;
  const auto result = std::from_chars(token.data(), token.data() + token.size(), value);
  if (result.ec == std::errc::result_out_of_range) {
    value = std::strtod(std::string(token).c_str(), nullptr);  // Python: huge becomes inf, tiny becomes 0.0
  }
  append_float(out, value);
}

std::vector<const Field*> sorted_fields(const Node& object) {
  std::vector<const Field*> order;
  order.reserve(object.count);
  for (std::uint32_t i = 0; i < object.count; ++i) order.push_back(&object.fields[i]);
  const auto by_key = [](const Field* a, const Field* b) { return a->key < b->key; };
  if (!std::is_sorted(order.begin(), order.end(), by_key)) std::stable_sort(order.begin(), order.end(), by_key);
  return order;
}

void append_python(std::string& out, const Node& node, Style style, int level) {
  const std::string_view comma = style.indent < 0 && style.blanks ? ", " : ",";
  switch (node.kind) {
    case Kind::kNull:
    case Kind::kBool:
      out += node.kind == Kind::kNull ? std::string_view("null") : node.text;
      return;
    case Kind::kNumber:
      append_number(out, node.text);
      return;
    case Kind::kString:
      append_quoted(out, node.text, style.ascii);
      return;
    case Kind::kArray: {
      if (node.count == 0) {
        out += "[]";
        return;
      }
      out += '[';
      for (std::uint32_t i = 0; i < node.count; ++i) {
        if (i > 0) out += comma;
        if (style.indent >= 0) newline(out, style.indent, level + 1);
        append_python(out, node.items[i], style, level + 1);
      }
      if (style.indent >= 0) newline(out, style.indent, level);
      out += ']';
      return;
    }
    case Kind::kObject: {
      if (node.count == 0) {
        out += "{}";
        return;
      }
      out += '{';
      bool first = true;
      const auto write = [&](const Field& field) {
        if (!first) out += comma;
        first = false;
        if (style.indent >= 0) newline(out, style.indent, level + 1);
        append_quoted(out, field.key, style.ascii);
        out += style.blanks ? ": " : ":";
        append_python(out, field.value, style, level + 1);
      };
      if (style.sort_keys) {
        for (const Field* field : sorted_fields(node)) write(*field);
      } else {
        for (std::uint32_t i = 0; i < node.count; ++i) write(node.fields[i]);
      }
      if (style.indent >= 0) newline(out, style.indent, level);
      out += '}';
      return;
    }
  }
}

void append_python_repr(std::string& out, const Node& node) {
  switch (node.kind) {
    case Kind::kNull:
      out += "None";
      return;
    case Kind::kBool:
      out += node.is_true() ? "True" : "False";
      return;
    case Kind::kNumber:
      if (node.text == "Infinity")
        out += "inf";
      else if (node.text == "-Infinity")
        out += "-inf";
      else if (node.text == "NaN")
        out += "nan";
      else
        append_number(out, node.text);
      return;
    case Kind::kString:
      append_repr_string(out, node.text);
      return;
    case Kind::kArray:
      out += '[';
      for (std::uint32_t i = 0; i < node.count; ++i) {
        if (i > 0) out += ", ";
        append_python_repr(out, node.items[i]);
      }
      out += ']';
      return;
    case Kind::kObject:
      out += '{';
      for (std::uint32_t i = 0; i < node.count; ++i) {
        if (i > 0) out += ", ";
        append_repr_string(out, node.fields[i].key);
        out += ": ";
        append_python_repr(out, node.fields[i].value);
      }
      out += '}';
      return;
  }
}

}  // namespace opwright::json
