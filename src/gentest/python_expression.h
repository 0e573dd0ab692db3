// A Python expression, and how it is laid out: on one line where it fits, else its arguments on the next, else one a
// line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opwright::gentest {

inline constexpr std::size_t kColumns = 120;

struct Python {
  std::string text;  // the whole of it; with items what stands in front of the bracket: `ttnn.CoreCoord`
  char open = 0;     // of the bracket: ( [ {; 0 none
  std::vector<std::pair<std::string, Python>> items = {};  // with its name; "" by position
  std::string comment = {};                                // at the end of its line where items have one each

  static Python atom(std::string text) { return {std::move(text)}; }
  static Python call(std::string function) { return {std::move(function), '('}; }
  static Python list() { return {"", '['}; }
  Python& add(Python item, std::string name = "");
};

std::string python_string(std::string_view text);  // in double quotes, all but ASCII escaped
std::string python_float(double value);
Python python_ints(const std::vector<std::int64_t>& numbers);   // [1, 1, 32, 32]
Python python_tuple(const std::vector<std::int64_t>& numbers);  // (4, 8)

std::string on_one_line(const Python& expression);
// Appends it, the first line behind what `out` ends with; `indent`: of the line it stands in.
void lay_out(std::string& out, const Python& expression, std::size_t indent, std::size_t columns = kColumns);

}  // namespace opwright::gentest
