// Arguments without a name are called arg0, arg1, … wherever one is needed: in configurations, in era-2 masters, in
// calls as JSON, in test vectors. This is the one place that knows it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace opwright {

std::string position_name(std::size_t position);
std::string position_name(std::string_view number);  // of a trace, which may write anything there
// "arg12" -> 12; -1 for any other name, also with a sign, leading zeros or more than four digits.
int position_of_name(std::string_view name);
// "12" -> 12, likewise.
int position_of_number(std::string_view digits);

}  // namespace opwright
