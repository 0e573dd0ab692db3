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

using Entry = std::pair<std::string_view, ExactUnary>;

constexpr std::array kFunctions{
    Entry{"abs", plain<std::fabs>},
    Entry{"acos", plain<std::acos>},
    Entry{"add_unary_sfpu", [](double x, Params p) { return x + param(p, 0, 0); }},
    Entry{"asin", plain<std::asin>},
    Entry{"atan", plain<std::atan>},
    Entry{"ceil", plain<std::ceil>},
    Entry{"clamp", [](double x, Params p) { return within(x, param(p, 0, -INFINITY), param(p, 1, INFINITY)); }},
    Entry{"cos", plain<std::cos>},
    Entry{"cosh", plain<std::cosh>},
    Entry{"div_unary_sfpu", [](double x, Params p) { return x / param(p, 0, 1); }},
    Entry{"elu", [](double x, Params p) { return x >= 0 ? x : param(p, 0, 1) * std::expm1(x); }},
    Entry{"eqz", [](double x, Params) { return x == 0 ? 1.0 : 0.0; }},
    Entry{"erf", plain<std::erf>},
    Entry{"erfc", plain<std::erfc>},
    Entry{"erfinv", plain<erfinv>},
    Entry{"exp", plain<std::exp>},
    Entry{"exp2", plain<std::exp2>},
    Entry{"expm1", plain<std::expm1>},
    Entry{"floor", plain<std::floor>},
    Entry{"frac", [](double x, Params) { return x - std::trunc(x); }},
    Entry{"gelu", [](double x, Params) { return gated(x, 0.5 * std::erfc(-x * M_SQRT1_2)); }},
    Entry{"gez", [](double x, Params) { return x >= 0 ? 1.0 : 0.0; }},
    Entry{"gtz", [](double x, Params) { return x > 0 ? 1.0 : 0.0; }},
    Entry{"hardsigmoid", [](double x, Params) { return within(x / 6 + 0.5, 0, 1); }},
    Entry{"hardswish", [](double x, Params) { return gated(x, within(x / 6 + 0.5, 0, 1)); }},
    Entry{"hardtanh", [](double x, Params p) { return within(x, param(p, 0, -1), param(p, 1, 1)); }},
    Entry{"identity", [](double x, Params) { return x; }},
    Entry{"isfinite", [](double x, Params) { return std::isfinite(x) ? 1.0 : 0.0; }},
    Entry{"isinf", [](double x, Params) { return std::isinf(x) ? 1.0 : 0.0; }},
    Entry{"isnan", [](double x, Params) { return std::isnan(x) ? 1.0 : 0.0; }},
    Entry{"leaky_relu", [](double x, Params p) { return x >= 0 ? x : param(p, 0, 0.01) * x; }},
    Entry{"lez", [](double x, Params) { return x <= 0 ? 1.0 : 0.0; }},
    Entry{"log", plain<std::log>},
    Entry{"log10", plain<std::log10>},
    Entry{"log1p", plain<std::log1p>},
    Entry{"log2", plain<std::log2>},
    Entry{"logical_not", [](double x, Params) { return x == 0 ? 1.0 : 0.0; }},
    Entry{"ltz", [](double x, Params) { return x < 0 ? 1.0 : 0.0; }},
    Entry{"mish", [](double x, Params) { return gated(x, std::tanh(softplus(x, 1, 700))); }},
    Entry{"mul_unary_sfpu", [](double x, Params p) { return x * param(p, 0, 1); }},
    Entry{"neg", [](double x, Params) { return -x; }},
    Entry{"nez", [](double x, Params) { return x != 0 ? 1.0 : 0.0; }},
    Entry{"power", [](double x, Params p) { return std::pow(x, param(p, 0, 1)); }},
    Entry{"rdiv", [](double x, Params p) { return param(p, 0, 1) / x; }},
    Entry{"reciprocal", [](double x, Params) { return 1 / x; }},
    Entry{"relu", [](double x, Params) { return within(x, 0, INFINITY); }},
    Entry{"relu6", [](double x, Params) { return within(x, 0, 6); }},
    Entry{"relu_max", [](double x, Params p) { return within(x, 0, param(p, 0, INFINITY)); }},
    Entry{"relu_min", [](double x, Params p) { return within(x, std::max(0.0, param(p, 0, 0)), INFINITY); }},
    Entry{"round", [](double x, Params) { return std::nearbyint(x); }},
    Entry{"rsqrt", [](double x, Params) { return 1 / std::sqrt(x); }},
    Entry{"rsub", [](double x, Params p) { return param(p, 0, 0) - x; }},
    Entry{"selu",
          [](double x, Params p) {
            return param(p, 0, 1.0507009873554805) * (x >= 0 ? x : param(p, 1, 1.6732632423543772) * std::expm1(x));
          }},
    Entry{"sigmoid", plain<sigmoid>},
    Entry{"sigmoid_accurate", plain<sigmoid>},
    Entry{"sign", plain<sign>},
    Entry{"silu", [](double x, Params) { return gated(x, sigmoid(x)); }},
    Entry{"sin", plain<std::sin>},
    Entry{"sinh", plain<std::sinh>},
    Entry{"softplus", [](double x, Params p) { return softplus(x, param(p, 0, 1), param(p, 1, 20)); }},
    Entry{"softsign", [](double x, Params) { return std::isinf(x) ? sign(x) : x / (1 + std::fabs(x)); }},
    Entry{"sqrt", plain<std::sqrt>},
    Entry{"square", [](double x, Params) { return x * x; }},
    Entry{"sub_unary_sfpu", [](double x, Params p) { return x - param(p, 0, 0); }},
    Entry{"tan", plain<std::tan>},
    Entry{"tanh", plain<std::tanh>},
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
    Corners{"abs", kZero},         Corners{"cos", kTurns},
    Corners{"elu", kTails},        Corners{"erf", kTails},
    Corners{"exp", kGrowth},       Corners{"gelu", kTails},
    Corners{"hardsigmoid", kHard}, Corners{"hardswish", kHard},
    Corners{"hardtanh", kUnit},    Corners{"leaky_relu", kZero},
    Corners{"log", kPowers},       Corners{"mish", kTails},
    Corners{"neg", kZero},         Corners{"reciprocal", kPowers},
    Corners{"relu", kZero},        Corners{"relu6", kRelu6},
    Corners{"rsqrt", kPowers},     Corners{"selu", kTails},
    Corners{"sigmoid", kTails},    Corners{"sigmoid_accurate", kTails},
    Corners{"silu", kTails},       Corners{"sin", kTurns},
    Corners{"softplus", kTails},   Corners{"sqrt", kPowers},
    Corners{"square", kUnit},      Corners{"tanh", kTails},
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
