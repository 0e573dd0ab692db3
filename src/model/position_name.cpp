#include "model/position_name.h"

namespace opwright {

std::string position_name(std::string_view number) { return "arg" + std::string(number); }

std::string position_name(std::size_t position) { return position_name(std::to_string(position)); }

int position_of_number(std::string_view digits) {
  if (digits.empty() || digits.size() > 4 || (digits.size() > 1 && digits[0] == '0')) return -1;
  int number = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return -1;
    number = number * 10 + (c - '0');
  }
  return number;
}

int position_of_name(std::string_view name) {
  return name.starts_with("arg") ? position_of_number(name.substr(3)) : -1;
}

}  // namespace opwright
