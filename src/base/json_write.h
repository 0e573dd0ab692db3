// JSON text exactly as Python writes it, because hashes of existing trace files are taken over that text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace opwright::json {

// A JSON string with quotes. `ascii`: what is beyond ASCII is escaped, as Python's ensure_ascii does; without it only
// what JSON cannot hold (quotes, backslashes, control characters below 0x20).
void append_quoted(std::string& out, std::string_view text, bool ascii = true);
// Python's repr of a float: shortest digits that read back, always with a fraction or an exponent.
void append_float(std::string& out, double value);
std::string float_text(double value);
// A number token as Python prints it after reading it: integers as they are (`-0` is `0`), others as floats.
void append_number(std::string& out, std::string_view token);

// A measured figure. JSON has no word for what is no finite number, and null would say that nobody measured: those are
// the strings "inf", "-inf" and "nan", here as in the files of calls and masters.
std::string figure_text(double value);
// Back: also from the tokens Infinity, -Infinity and NaN. Nothing when it is neither a number nor one of the strings.
std::optional<double> figure_of(const Node& node);

struct Style {
  bool sort_keys = false;
  int indent = -1;     // < 0: one line
  bool ascii = true;   // append_quoted's
  bool blanks = true;  // ", " and ": "; else "," and ":", as separators=(",", ":") asks for
};
// json.dumps(value, sort_keys=…, indent=…, ensure_ascii=…, separators=…). `level` is the nesting the text is put into.
void append_python(std::string& out, const Node& node, Style style, int level = 0);
// Python's str(value): single quotes, None, True, False.
void append_python_repr(std::string& out, const Node& node);
// Fields sorted by key: the order in which sort_keys writes them.
std::vector<const Field*> sorted_fields(const Node& object);

}  // namespace opwright::json
