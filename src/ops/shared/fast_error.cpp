#include "ops/shared/fast_error.h"

#include <cmath>

namespace opwright {
namespace {

// The exponent comes out of one multiply and add: a saw-tooth of 3.4 % over all bfloat16 inputs.
constexpr double kExp = 0.036;

double sigmoid_error(double size) {
  // Three lines: y = x / 4 or so up to 1, a steeper one up to 2, and 1 from there on.
  if (size < 1) return 0.012;
  if (size < 2) return 0.012 + 0.1 * (size - 1);
  return 0.004 + std::exp(-size) / (1 + std::exp(-size));
}

double gelu_error(double size) {
  // Six lines that meet the function at 0 and from 3 on, where it is x or nothing.
  if (size < 0.5) return 0.03;
  if (size < 1) return 0.0125;
  if (size < 3) return 0.011;
  return size > 30 ? 0.0005 : 0.0005 + size * 0.5 * std::erfc(size * M_SQRT1_2);
}

}  // namespace

double fast_error(std::string_view function, double x) {
  const double size = std::abs(x);
  if (std::isnan(x)) return 0.0;
  if (function == "exp") return kExp * std::exp(x);
  if (function == "sigmoid") return sigmoid_error(size);
  // 1 / (1 + exp(-x)) with the fast exp.
  if (function == "sigmoid_accurate")
    return 0.002 + 1.1 * kExp * std::exp(-size) / ((1 + std::exp(-size)) * (1 + std::exp(-size)));
  if (function == "gelu") return gelu_error(size);
  return -1.0;
}

}  // namespace opwright
