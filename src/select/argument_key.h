// When an argument equals what somebody typed: `=` compares keys, and the index stores the same keys, so that the two
// cannot disagree.
//
// The key of a text is: lower case, `.` for `::`, without the library in front (`ttnn.`), numbers in one spelling
// (`1e6` and `1000000`, `0.50` and `.5`), `none` for `null` and `nullopt`.
#pragma once

#include <string>
#include <string_view>

#include "model/value.h"

namespace opwright::select {

void append_key(std::string& out, std::string_view text);
void append_key(std::string& out, double number);
// Appends the key of a finite number; false, and nothing is appended, when `text` is not one.
bool append_number_key(std::string& out, std::string_view text);

// `datatype.bfloat16`, in place of what `out` holds.
void write_enum_key(std::string& out, const Enum& value);

// A struct that only wraps one value, such as `Shape([1,2])`, is compared as that value too.
const Value& unwrapped(const Value& value);

// Composite values (lists, dicts, structs, tensors, memory configs) have no short key: their key is that of their whole
// text. Those texts have a bracket in front or a parenthesis in them, by which the key of a composite is recognized.
inline bool may_be_composite(std::string_view key) {
  return key.starts_with('[') || key.starts_with('{') || key.find('(') != std::string_view::npos;
}

// Calls visit(key) for the keys of a value that is not composite, until one call answers true; that is the answer.
// `buffer` is overwritten. An enum has two keys: `bfloat16` and `datatype.bfloat16`.
template <class Visit>
bool any_scalar_key(const Value& value, std::string& buffer, Visit&& visit) {
  buffer.clear();
  if (value.is_null()) return visit(std::string_view("none"));
  if (const bool* b = value.as_bool()) return visit(*b ? std::string_view("true") : std::string_view("false"));
  if (const std::string* text = value.as_string()) {
    append_key(buffer, *text);
    return visit(std::string_view(buffer));
  }
  if (const double* number = value.as_float()) {
    append_key(buffer, *number);
    return visit(std::string_view(buffer));
  }
  if (const Opaque* opaque = value.as_opaque()) {
    append_key(buffer, opaque->text);
    return visit(std::string_view(buffer));
  }
  if (const Enum* e = value.as_enum()) {
    append_key(buffer, e->name);
    if (visit(std::string_view(buffer))) return true;
    if (e->type.empty()) return false;
    write_enum_key(buffer, *e);
    return visit(std::string_view(buffer));
  }
  if (value.as_int() != nullptr || std::holds_alternative<BigInt>(value.data())) {
    append_text(buffer, value);
    return visit(std::string_view(buffer));
  }
  return false;
}

}  // namespace opwright::select
