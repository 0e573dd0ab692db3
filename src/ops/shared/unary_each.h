// Functions of one value, applied to many at once in wide registers: the judge asks four times an element behind a
// fused function. They are those of unary_exact.h to a few units in the last place of a float: bounds follow from them,
// exact results never.
#pragma once

#include <span>
#include <string_view>

namespace opwright {

using ExactEach = void (*)(std::span<double> values, std::span<const double> params);

// By the library's name of the function; null where there is none, and values are taken one after the other.
ExactEach find_exact_each(std::string_view name);

}  // namespace opwright
