// Functions of the vector unit of which no recorded results are known here: numerics are modelled. Each is computed in
// double precision in a way of its own, so that the reference does not judge itself.
#include <algorithm>
#include <cmath>
#include <limits>

#include "device/sim/sfpu.h"

namespace opwright::sim {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Power series of the modified Bessel functions: all terms are positive.
double bessel(double x, int order) {
  const double quarter = x * x / 4;
  double term = order == 0 ? 1.0 : x / 2;
  double sum = term;
  for (int k = 1; k < 2000 && std::isfinite(sum); ++k) {
    term *= quarter / (static_cast<double>(k) * (k + order));
    sum += term;
    if (std::fabs(term) <= std::fabs(sum) * 1e-18) break;
  }
  return sum;
}

// Stirling's series, once the argument is at least 12.
double digamma(double x) {
  if (x == 0) return -std::copysign(std::numeric_limits<double>::infinity(), x);
  if (x <= 0 && std::floor(x) == x) return std::numeric_limits<double>::quiet_NaN();
  if (x < 0) return digamma(1 - x) - kPi / std::tan(kPi * x);
  double shift = 0;
  for (; x < 12; x += 1) shift -= 1 / x;
  const double z = 1 / (x * x);
  return shift + std::log(x) - 0.5 / x - z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240))));
}

}  // namespace

std::optional<double> modelled(Unary op, double x, std::span<const float> params) {
  const auto param = [&](std::size_t i, double otherwise) {
    return i < params.size() ? static_cast<double>(params[i]) : otherwise;
  };
  const auto beyond = [&](double most) { return x > most ? x - most : x < -most ? x + most : 0.0; };
  switch (op) {
    case Unary::kAcosh:
      return std::log(x + std::sqrt(x * x - 1));
    case Unary::kAsinh:
      return std::copysign(std::log(std::fabs(x) + std::hypot(x, 1.0)), x);
    case Unary::kAtanh:
      return (std::log1p(x) - std::log1p(-x)) / 2;
    case Unary::kCbrt:
      return std::copysign(std::pow(std::fabs(x), 1.0 / 3), x);
    case Unary::kCelu:
      return x > 0 ? x : param(0, 1.0) * (std::exp(x / param(0, 1.0)) - 1);
    case Unary::kDeg2rad:
      return x * (kPi / 180);
    case Unary::kDigamma:
      return digamma(x);
    case Unary::kFill:
      return param(0, 0.0);
    case Unary::kHardshrink:
      return beyond(param(0, 0.5)) == 0.0 ? 0.0 : x;
    case Unary::kHeaviside:
      return x > 0 ? 1.0 : x < 0 ? 0.0 : param(0, 0.0);
    case Unary::kI0:
      return bessel(x, 0);
    case Unary::kI1:
      return bessel(x, 1);
    case Unary::kLgamma:
      return x > 0 && x < 100 ? std::log(std::tgamma(x)) : std::lgamma(x);
    case Unary::kLogSigmoid:
      return x < 0 ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x));
    case Unary::kLogit: {
      const double edge = param(0, 0.0);
      const double inside = edge > 0 ? std::min(std::max(x, edge), 1 - edge) : x;
      return std::log(inside) - std::log1p(-inside);
    }
    case Unary::kRad2deg:
      return x * (180 / kPi);
    case Unary::kRdiv:
      return param(0, 1.0) / x;
    case Unary::kReluMax:
      return std::min(std::max(x, 0.0), param(0, 0.0));
    case Unary::kReluMin:
      return std::max(x, param(0, 0.0));
    case Unary::kRpow:
      return std::exp2(x * std::log2(param(0, 1.0)));
    case Unary::kSelu:
      return param(0, 1.0507009873554805) * (x > 0 ? x : param(1, 1.6732632423543772) * (std::exp(x) - 1));
    case Unary::kSoftshrink:
      return beyond(param(0, 0.5));
    case Unary::kTanhshrink:
      return x - std::tanh(x);
    case Unary::kThreshold:
      return x > param(0, 0.0) ? x : param(1, 0.0);
    default:
      return std::nullopt;
  }
}

}  // namespace opwright::sim
