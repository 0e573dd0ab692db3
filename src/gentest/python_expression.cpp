#include "gentest/python_expression.h"

#include <fmt/format.h>

#include <cmath>

#include "base/json_write.h"
#include "base/visible_text.h"

namespace opwright::gentest {
namespace {

char closing(char open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; }

bool has_comments(const Python& expression) {
  for (const auto& [name, item] : expression.items)
    if (!item.comment.empty() || has_comments(item)) return true;
  return false;
}

void append_flat(std::string& out, const Python& expression) {
  out += expression.text;
  if (expression.open == 0) return;
  out += expression.open;
  for (std::size_t i = 0; i < expression.items.size(); ++i) {
    const auto& [name, item] = expression.items[i];
    if (i > 0) out += ", ";
    if (!name.empty()) out += name + "=";
    append_flat(out, item);
  }
  // (4,) is a tuple, (4) is not
  if (expression.open == '(' && expression.text.empty() && expression.items.size() == 1) out += ',';
  out += closing(expression.open);
}

std::size_t column_of(const std::string& out) {
  const std::size_t line = out.rfind('\n');
  return out.size() - (line == std::string::npos ? 0 : line + 1);
}

// `after`: characters that must follow it on its last line.
void append(std::string& out, const Python& expression, std::size_t indent, std::size_t columns, std::size_t after) {
  const bool comments = has_comments(expression);
  if (!comments) {
    std::string flat;
    append_flat(flat, expression);
    if (expression.open == 0 || expression.items.empty() || column_of(out) + flat.size() + after <= columns) {
      out += flat;
      return;
    }
  }
  out += expression.text + expression.open + "\n";
  if (!comments) {  // all of them on one line of their own
    Python items = expression;
    items.text.clear();
    const std::string flat = on_one_line(items);
    const bool is_tuple = flat.ends_with(",)");
    if (indent + 4 + flat.size() - 2 <= columns && !is_tuple) {
      out.append(indent + 4, ' ');
      out += flat.substr(1, flat.size() - 2) + "\n";
      out.append(indent, ' ');
      out += closing(expression.open);
      return;
    }
  }
  for (const auto& [name, item] : expression.items) {
    out.append(indent + 4, ' ');
    if (!name.empty()) out += name + "=";
    append(out, item, indent + 4, columns, 1);
    out += ",";
    if (!item.comment.empty()) out += "  # " + item.comment;
    out += "\n";
  }
  out.append(indent, ' ');
  out += closing(expression.open);
}

}  // namespace

Python& Python::add(Python item, std::string name) {
  items.emplace_back(std::move(name), std::move(item));
  return *this;
}

std::string python_string(std::string_view text) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (!point.sound)
      out += fmt::format("\\udc{:02x}", point.code & 0xff);  // as Python reads a byte that is no text
    else if (point.code == '"' || point.code == '\\')
      out += fmt::format("\\{}", static_cast<char>(point.code));
    else if (point.code == '\n')
      out += "\\n";
    else if (point.code < 0x20 || point.code == 0x7f)
      out += fmt::format("\\x{:02x}", point.code);
    else if (point.code < 0x7f)
      out += static_cast<char>(point.code);
    else
      out += point.code < 0x10000 ? fmt::format("\\u{:04x}", point.code) : fmt::format("\\U{:08x}", point.code);
    at += point.bytes;
  }
  return out + '"';
}

std::string python_float(double value) {
  if (std::isnan(value)) return "float(\"nan\")";
  if (std::isinf(value)) return value < 0 ? "float(\"-inf\")" : "float(\"inf\")";
  return json::float_text(value);
}

Python python_ints(const std::vector<std::int64_t>& numbers) {
  Python out = Python::list();
  for (const std::int64_t number : numbers) out.add(Python::atom(std::to_string(number)));
  return out;
}

Python python_tuple(const std::vector<std::int64_t>& numbers) {
  Python out = python_ints(numbers);
  out.open = '(';
  return out;
}

std::string on_one_line(const Python& expression) {
  std::string out;
  append_flat(out, expression);
  return out;
}

void lay_out(std::string& out, const Python& expression, std::size_t indent, std::size_t columns) {
  append(out, expression, indent, columns, 0);
}

}  // namespace opwright::gentest
