// A small case of every operator, built in: to try, to copy, to test.
#pragma once

#include <span>
#include <string_view>

namespace opwright {

// Case lines; the first of an operator is the plainest.
std::span<const std::string_view> example_cases();

}  // namespace opwright
