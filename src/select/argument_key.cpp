#include "select/argument_key.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "dialect/dialect.h"
#include "select/fold.h"

namespace opwright::select {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The length of `ttnn.` in front of a value; 0: no library names it.
std::size_t library_in_front(std::string_view text) {
  for (const Dialect* dialect : dialects()) {
    const std::size_t size = dialect->name.size();
    if (dialect->names_values && text.size() > size && text[size] == '.' && text.starts_with(dialect->name))
      return size + 1;
  }
  return 0;
}

// Makes the key of what was folded into `out` from `start` on. The order matters: what is left after one step is looked
// at by the next, so that the key of a key is that key.
void finish_key(std::string& out, std::size_t start) {
  std::size_t behind = start;
  while (const std::size_t front = library_in_front(std::string_view(out).substr(behind))) behind += front;
  out.erase(start, behind - start);
  const std::string_view key = std::string_view(out).substr(start);
  if (key == "null" || key == "nullopt" || key == "std.nullopt") {
    out.replace(start, std::string::npos, "none");
  } else if (!key.empty() &&
             (is_digit(key.front()) || key.front() == '.' || key.front() == '-' || key.front() == '+')) {
    std::string number;
    if (append_number_key(number, key)) out.replace(start, std::string::npos, number);
  }
}

}  // namespace

bool append_number_key(std::string& out, std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (text.empty() || (!is_digit(text.front()) && text.front() != '.')) return false;
  if (std::all_of(text.begin(), text.end(), is_digit)) {  // of any size
    text.remove_prefix(std::min(text.find_first_not_of('0'), text.size() - 1));
    if (negative && text != "0") out += '-';
    out += text;
    return true;
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  append_key(out, negative ? -number : number);
  return true;
}

void append_key(std::string& out, double number) {
  constexpr double kWholeLimit = 9223372036854775808.0;  // 2^63
  char digits[64];
  char* end = nullptr;
  if (std::isnan(number)) {
    out += "nan";
    return;
  }
  if (std::isinf(number)) {
    out += number < 0 ? "-inf" : "inf";
    return;
  }
  if (std::trunc(number) == number && std::abs(number) < kWholeLimit) {
    end = std::to_chars(digits, digits + sizeof digits, static_cast<std::int64_t>(number)).ptr;
  } else {
    end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  }
  out.append(digits, end);
}

void append_key(std::string& out, std::string_view text) {
  const std::size_t start = out.size();
  append_folded_name(out, text);
  finish_key(out, start);
}

void write_enum_key(std::string& out, const Enum& value) {
  out.clear();
  append_folded_name(out, value.type);
  out += '.';
  append_folded_name(out, value.name);
  finish_key(out, 0);
}

const Value& unwrapped(const Value& value) {
  const Value* inner = &value;
  for (const Struct* s = inner->as_struct(); s != nullptr && s->fields.size() == 1 && s->fields.front().first.empty();
       s = inner->as_struct()) {
    inner = &s->fields.front().second;
  }
  return *inner;
}

}  // namespace opwright::select
