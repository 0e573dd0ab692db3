// How far the vector unit's fast variants of functions are from the functions, where it was recorded.
#pragma once

#include <string_view>

namespace opwright {

// The largest error of the fast variant of a function ("gelu") at x, before the output's rounding; negative where
// nobody has recorded it.
double fast_error(std::string_view function, double x);

}  // namespace opwright
