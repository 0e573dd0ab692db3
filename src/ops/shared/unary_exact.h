// Functions of one value in double precision.
#pragma once

#include <span>
#include <string_view>

namespace opwright {

using ExactUnary = double (*)(double x, std::span<const double> params);

// By the library's name of the function ("silu"); null when nobody knows it.
ExactUnary find_exact_unary(std::string_view name);

// Where the function of that name has corners, tails, or where kernels change their method; empty: nowhere that is
// known.
std::span<const double> corners_of(std::string_view name);

}  // namespace opwright
