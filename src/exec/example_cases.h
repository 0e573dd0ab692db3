// Cases that are built in: a small one of every operator, to try, to copy, to test; and those known to be good.
#pragma once

#include <span>
#include <string_view>

namespace opwright {

// Case lines; the first of an operator is the plainest.
std::span<const std::string_view> example_cases();

// One a family; every sound device passes or accepts them.
std::span<const std::string_view> canary_cases();

}  // namespace opwright
