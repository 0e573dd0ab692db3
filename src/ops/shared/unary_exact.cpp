#include "ops/shared/unary_exact.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace opwright {
namespace {

using Params = std::span<const double>;

double param(Params params, std::size_t i, double otherwise) { return i < params.size() ? params[i] : otherwise; }

// Written so that neither side overflows.
double sigmoid(double x) {
  if (x >= 0) return 1.0 / (1.0 + std::exp(-x));
  const double e = std::exp(x);
  return e / (1.0 + e);
}

double softplus(double x, double beta, double threshold) {
  return beta * x > threshold ? x : std::log1p(std::exp(beta * x)) / beta;
}

// Minus infinity times a gate of 0 is NaN: its limit would be 0, and real kernels give 0 (gelu) or minus infinity
// (silu, the fast gelu).
double gated(double x, double gate) { return gate == 0 && std::isfinite(x) ? 0.0 : x * gate; }

double erfinv(double y) {
  if (!(y > -1 && y < 1)) return y == 1 || y == -1 ? y * INFINITY : std::numeric_limits<double>::quiet_NaN();
  const double w = std::log(1 - y * y);
  const double a = 2 / (M_PI * 0.147) + w / 2;
  double x = std::copysign(std::sqrt(std::sqrt(a * a - w / 0.147) - a), y);
  for (int step = 0; step < 4; ++step) x -= (std::erf(x) - y) / (M_2_SQRTPI * std::exp(-x * x));
  return x;
}

double within(double x, double low, double high) { return std::isnan(x) ? x : std::min(std::max(x, low), high); }

template <double (*F)(double)>
double plain(double x, Params) {
  return F(x);
}

double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

// By the recurrence up to 8 and the asymptotic series from there.
double digamma(double x) {
  if (x == 0) return -std::copysign(INFINITY, x);
  if (x < 0) {
    if (x == std::floor(x)) return std::numeric_limits<double>::quiet_NaN();
    return digamma(1 - x) - M_PI / std::tan(M_PI * x);
  }
  double below = 0;
  while (x < 8) below += 1 / x++;
  const double square = 1 / (x * x);
  double series = 691.0 / 32760;
  for (const double term : {1.0 / 132, 1.0 / 240, 1.0 / 252, 1.0 / 120, 1.0 / 12}) series = term - series * square;
  return std::log(x) - 0.5 / x - series * square - below;
}

// The library's function gives up where its result overflows.
double bessel(double order, double x) {
  constexpr double kMost = 700;
  return x > kMost ? INFINITY : std::cyl_bessel_i(order, x);
}

double logit(double x, double eps) {
  if (eps > 0) x = std::min(std::max(x, eps), 1 - eps);
  return std::log(x / (1 - x));
}

using Entry = std::pair<std::string_view, ExactUnary>;

constexpr std::array kFunctions{
    Entry{"abs", plain<std::fabs>},
    Entry{"acos", plain<std::acos>},
    Entry{"acosh", plain<std::acosh>},
    Entry{"add_unary_sfpu", [](double x, Params p) { return x + param(p, 0, 0); }},
    Entry{"asin", plain<std::asin>},
    Entry{"asinh", plain<std::asinh>},
    Entry{"atan", plain<std::atan>},
    Entry{"atanh", plain<std::atanh>},
    Entry{"bitwise_not", [](double x, Params) { return -x - 1; }},
    Entry{"cbrt", plain<std::cbrt>},
    Entry{"ceil", plain<std::ceil>},
    Entry{"celu", [](double x, Params p) { return x >= 0 ? x : param(p, 0, 1) * std::expm1(x / param(p, 0, 1)); }},
    Entry{"clamp", [](double x, Params p) { return within(x, param(p, 0, -INFINITY), param(p, 1, INFINITY)); }},
    Entry{"cos", plain<std::cos>},
    Entry{"cosh", plain<std::cosh>},
    Entry{"deg2rad", [](double x, Params) { return x * M_PI / 180; }},
    Entry{"digamma", plain<digamma>},
    Entry{"div_unary_sfpu", [](double x, Params p) { return x / param(p, 0, 1); }},
    Entry{"elu", [](double x, Params p) { return x >= 0 ? x : param(p, 0, 1) * std::expm1(x); }},
    Entry{"eqz", [](double x, Params) { return x == 0 ? 1.0 : 0.0; }},
    Entry{"erf", plain<std::erf>},
    Entry{"erfc", plain<std::erfc>},
    Entry{"erfinv", plain<erfinv>},
    Entry{"exp", plain<std::exp>},
    Entry{"exp2", plain<std::exp2>},
    Entry{"expm1", plain<std::expm1>},
    Entry{"fill", [](double, Params p) { return param(p, 0, 0); }},
    Entry{"floor", plain<std::floor>},
    Entry{"frac", [](double x, Params) { return x - std::trunc(x); }},
    Entry{"gelu", [](double x, Params) { return gated(x, 0.5 * std::erfc(-x * M_SQRT1_2)); }},
    Entry{"gez", [](double x, Params) { return x >= 0 ? 1.0 : 0.0; }},
    Entry{"gtz", [](double x, Params) { return x > 0 ? 1.0 : 0.0; }},
    Entry{"hardshrink", [](double x, Params p) { return std::fabs(x) > param(p, 0, 0.5) ? x : 0.0; }},
    Entry{"hardsigmoid", [](double x, Params) { return within(x / 6 + 0.5, 0, 1); }},
    Entry{"hardswish", [](double x, Params) { return gated(x, within(x / 6 + 0.5, 0, 1)); }},
    Entry{"hardtanh", [](double x, Params p) { return within(x, param(p, 0, -1), param(p, 1, 1)); }},
    Entry{"heaviside", [](double x, Params p) { return x == 0  ? param(p, 0, 0)
                                                       : x > 0 ? 1.0
                                                               : 0.0; }},
    Entry{"i0", [](double x, Params) { return bessel(0.0, std::fabs(x)); }},
    Entry{"i1", [](double x, Params) { return std::copysign(bessel(1.0, std::fabs(x)), x); }},
    Entry{"identity", [](double x, Params) { return x; }},
    Entry{"isfinite", [](double x, Params) { return std::isfinite(x) ? 1.0 : 0.0; }},
    Entry{"isinf", [](double x, Params) { return std::isinf(x) ? 1.0 : 0.0; }},
    Entry{"isnan", [](double x, Params) { return std::isnan(x) ? 1.0 : 0.0; }},
    Entry{"isneginf", [](double x, Params) { return x == -INFINITY ? 1.0 : 0.0; }},
    Entry{"isposinf", [](double x, Params) { return x == INFINITY ? 1.0 : 0.0; }},
    Entry{"leaky_relu", [](double x, Params p) { return x >= 0 ? x : param(p, 0, 0.01) * x; }},
    Entry{"lez", [](double x, Params) { return x <= 0 ? 1.0 : 0.0; }},
    Entry{"lgamma", plain<std::lgamma>},
    Entry{"log", plain<std::log>},
    Entry{"log10", plain<std::log10>},
    Entry{"log1p", plain<std::log1p>},
    Entry{"log2", plain<std::log2>},
    Entry{"log_sigmoid", [](double x, Params) { return -softplus(-x, 1, 700); }},
    Entry{"logical_not", [](double x, Params) { return x == 0 ? 1.0 : 0.0; }},
    Entry{"logit", [](double x, Params p) { return logit(x, param(p, 0, 0)); }},
    Entry{"ltz", [](double x, Params) { return x < 0 ? 1.0 : 0.0; }},
    Entry{"mish", [](double x, Params) { return gated(x, std::tanh(softplus(x, 1, 700))); }},
    Entry{"mul_unary_sfpu", [](double x, Params p) { return x * param(p, 0, 1); }},
    Entry{"neg", [](double x, Params) { return -x; }},
    Entry{"nez", [](double x, Params) { return x != 0 ? 1.0 : 0.0; }},
    Entry{"power", [](double x, Params p) { return std::pow(x, param(p, 0, 1)); }},
    Entry{"rad2deg", [](double x, Params) { return x * 180 / M_PI; }},
    Entry{"rdiv", [](double x, Params p) { return param(p, 0, 1) / x; }},
    Entry{"reciprocal", [](double x, Params) { return 1 / x; }},
    Entry{"relu", [](double x, Params) { return within(x, 0, INFINITY); }},
    Entry{"relu6", [](double x, Params) { return within(x, 0, 6); }},
    Entry{"relu_max", [](double x, Params p) { return within(x, 0, param(p, 0, INFINITY)); }},
    Entry{"relu_min", [](double x, Params p) { return within(x, std::max(0.0, param(p, 0, 0)), INFINITY); }},
    Entry{"round", [](double x, Params) { return std::nearbyint(x); }},
    Entry{"rpow", [](double x, Params p) { return std::pow(param(p, 0, 1), x); }},
    Entry{"rsqrt", [](double x, Params) { return 1 / std::sqrt(x); }},
    Entry{"rsub", [](double x, Params p) { return param(p, 0, 0) - x; }},
    Entry{"selu",
          [](double x, Params p) {
            return param(p, 0, 1.0507009873554805) * (x >= 0 ? x : param(p, 1, 1.6732632423543772) * std::expm1(x));
          }},
    Entry{"sigmoid", plain<sigmoid>},
    Entry{"sigmoid_accurate", plain<sigmoid>},
    Entry{"sign", plain<sign>},
    Entry{"signbit", [](double x, Params) { return std::signbit(x) ? 1.0 : 0.0; }},
    Entry{"silu", [](double x, Params) { return gated(x, sigmoid(x)); }},
    Entry{"sin", plain<std::sin>},
    Entry{"sinh", plain<std::sinh>},
    Entry{"softplus", [](double x, Params p) { return softplus(x, param(p, 0, 1), param(p, 1, 20)); }},
    Entry{"softshrink",
          [](double x, Params p) { return std::copysign(std::max(std::fabs(x) - param(p, 0, 0.5), 0.0), x); }},
    Entry{"softsign", [](double x, Params) { return std::isinf(x) ? sign(x) : x / (1 + std::fabs(x)); }},
    Entry{"sqrt", plain<std::sqrt>},
    Entry{"square", [](double x, Params) { return x * x; }},
    Entry{"sub_unary_sfpu", [](double x, Params p) { return x - param(p, 0, 0); }},
    Entry{"tan", plain<std::tan>},
    Entry{"tanh", plain<std::tanh>},
    Entry{"tanhshrink", [](double x, Params) { return x - std::tanh(x); }},
    Entry{"threshold", [](double x, Params p) { return x > param(p, 0, 0) ? x : param(p, 1, 0); }},
    Entry{"trunc", plain<std::trunc>},
};

// Signs are written out where both sides differ; numbers beside a corner are made by whoever asks.
constexpr double kZero[] = {0, -0.0};
constexpr double kRelu6[] = {0, -0.0, 6};
constexpr double kHard[] = {0, -0.0, 3, -3};
constexpr double kUnit[] = {0, -0.0, 1, -1};
constexpr double kTails[] = {0, -0.0, 0.125, -0.125, 2, -2, 4, -4, 8, -8};
constexpr double kTurns[] = {0, -0.0, M_PI_2, -M_PI_2, M_PI, -M_PI};
constexpr double kPowers[] = {1, 0x1p-20, 0x1p20, 4, 0.25};
constexpr double kGrowth[] = {0, -0.0, 1, -1, 12, -12, 24, -24};

using Corners = std::pair<std::string_view, std::span<const double>>;
constexpr std::array kCorners{
    Corners{"abs", kZero},
    Corners{"asinh", kTails},
    Corners{"cbrt", kPowers},
    Corners{"ceil", kUnit},
    Corners{"celu", kTails},
    Corners{"cos", kTurns},
    Corners{"elu", kTails},
    Corners{"eqz", kZero},
    Corners{"erf", kTails},
    Corners{"erfc", kTails},
    Corners{"exp", kGrowth},
    Corners{"exp2", kGrowth},
    Corners{"expm1", kTails},
    Corners{"floor", kUnit},
    Corners{"gelu", kTails},
    Corners{"gez", kZero},
    Corners{"gtz", kZero},
    Corners{"hardsigmoid", kHard},
    Corners{"hardswish", kHard},
    Corners{"hardtanh", kUnit},
    Corners{"heaviside", kZero},
    Corners{"leaky_relu", kZero},
    Corners{"lez", kZero},
    Corners{"log", kPowers},
    Corners{"log10", kPowers},
    Corners{"log1p", kPowers},
    Corners{"log2", kPowers},
    Corners{"log_sigmoid", kTails},
    Corners{"logical_not", kZero},
    Corners{"ltz", kZero},
    Corners{"mish", kTails},
    Corners{"neg", kZero},
    Corners{"nez", kZero},
    Corners{"reciprocal", kPowers},
    Corners{"relu", kZero},
    Corners{"relu6", kRelu6},
    Corners{"round", kUnit},
    Corners{"rsqrt", kPowers},
    Corners{"selu", kTails},
    Corners{"sigmoid", kTails},
    Corners{"sigmoid_accurate", kTails},
    Corners{"sign", kZero},
    Corners{"signbit", kZero},
    Corners{"silu", kTails},
    Corners{"sin", kTurns},
    Corners{"softplus", kTails},
    Corners{"softsign", kTails},
    Corners{"sqrt", kPowers},
    Corners{"square", kUnit},
    Corners{"tanh", kTails},
    Corners{"tanhshrink", kTails},
    Corners{"trunc", kUnit},
};

}  // namespace

std::span<const double> corners_of(std::string_view name) {
  const auto found = std::ranges::find(kCorners, name, &Corners::first);
  return found == kCorners.end() ? std::span<const double>() : found->second;
}

ExactUnary find_exact_unary(std::string_view name) {
  const auto found = std::ranges::find(kFunctions, name, &Entry::first);
  return found == kFunctions.end() ? nullptr : found->second;
}

}  // namespace opwright
