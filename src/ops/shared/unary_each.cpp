#include "ops/shared/unary_each.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/vectorised.h"

namespace opwright {
namespace {

using Params = std::span<const double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double param(Params params, std::size_t i, double otherwise) { return i < params.size() ? params[i] : otherwise; }

// exp(x) as 2^n times a polynomial of what is left, |r| <= ln 2 / 2, with the terms that a double can see.
[[gnu::always_inline]] inline double exp_of(double x) {
  constexpr double kLog2E = 1.4426950408889634;
  constexpr double kLn2High = 0x1.62e42fefa0000p-1;  // n times it is exact
  constexpr double kLn2Low = 0x1.cf79abc9e3b3ap-40;
  constexpr double kToWhole = 0x1.8p52;
  constexpr double kLeast = -708.0, kMost = 709.0;
  double within = x < kLeast ? kLeast : x;
  within = within > kMost ? kMost : within;
  const double shifted = within * kLog2E + kToWhole;
  const double n = shifted - kToWhole;
  const double r = (within - n * kLn2High) - n * kLn2Low;
  double sum = 1.0 / 6227020800.0;
  sum = sum * r + 1.0 / 479001600.0;
  sum = sum * r + 1.0 / 39916800.0;
  sum = sum * r + 1.0 / 3628800.0;
  sum = sum * r + 1.0 / 362880.0;
  sum = sum * r + 1.0 / 40320.0;
  sum = sum * r + 1.0 / 5040.0;
  sum = sum * r + 1.0 / 720.0;
  sum = sum * r + 1.0 / 120.0;
  sum = sum * r + 1.0 / 24.0;
  sum = sum * r + 1.0 / 6.0;
  sum = sum * r + 0.5;
  sum = sum * r + 1.0;
  sum = sum * r + 1.0;
  // The whole number stands in the last bits of what it was shifted into.
  const double power = std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + 1023) << 52);
  const double result = sum * power;
  return x < kLeast ? 0.0 : (x > kMost ? kInfinity : result);
}

[[gnu::always_inline]] inline double sigmoid_of(double x) {
  const double e = exp_of(-std::abs(x));
  return (x >= 0 ? 1.0 : e) / (1.0 + e);
}

[[gnu::always_inline]] inline void within_loop(double* values, std::size_t n, double low, double high) {
  for (std::size_t i = 0; i < n; ++i) {
    const double x = values[i];  // NaN fails both comparisons and stays
    const double above = x < low ? low : x;
    values[i] = high < above ? high : above;
  }
}
OPWRIGHT_VECTORISED(void, within, (double* values, std::size_t n, double low, double high), (values, n, low, high))

[[gnu::always_inline]] inline void leak_loop(double* values, std::size_t n, double slope) {
  for (std::size_t i = 0; i < n; ++i) values[i] = values[i] >= 0 ? values[i] : slope * values[i];
}
OPWRIGHT_VECTORISED(void, leak, (double* values, std::size_t n, double slope), (values, n, slope))

[[gnu::always_inline]] inline void square_loop(double* values, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) values[i] = values[i] * values[i];
}
OPWRIGHT_VECTORISED(void, square, (double* values, std::size_t n), (values, n))

[[gnu::always_inline]] inline void exp_loop(double* values, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) values[i] = exp_of(values[i]);
}
OPWRIGHT_VECTORISED(void, exp, (double* values, std::size_t n), (values, n))

[[gnu::always_inline]] inline void sigmoid_loop(double* values, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) values[i] = sigmoid_of(values[i]);
}
OPWRIGHT_VECTORISED(void, sigmoid, (double* values, std::size_t n), (values, n))

[[gnu::always_inline]] inline void silu_loop(double* values, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const double x = values[i];
    const double gate = sigmoid_of(x);
    const double gated = x * gate;  // at minus infinity NaN, as in unary_exact.cpp: nothing is promised there
    values[i] = gate == 0 && x > -kInfinity ? 0.0 : gated;
  }
}
OPWRIGHT_VECTORISED(void, silu, (double* values, std::size_t n), (values, n))

template <void (*F)(double*, std::size_t)>
void plain(std::span<double> values, Params) {
  F(values.data(), values.size());
}

using Entry = std::pair<std::string_view, ExactEach>;
constexpr std::array kFunctions{
    Entry{"exp", plain<exp>},
    Entry{"hardtanh",
          [](std::span<double> v, Params p) { within(v.data(), v.size(), param(p, 0, -1), param(p, 1, 1)); }},
    Entry{"leaky_relu", [](std::span<double> v, Params p) { leak(v.data(), v.size(), param(p, 0, 0.01)); }},
    Entry{"relu", [](std::span<double> v, Params) { within(v.data(), v.size(), 0, kInfinity); }},
    Entry{"relu6", [](std::span<double> v, Params) { within(v.data(), v.size(), 0, 6); }},
    Entry{"sigmoid", plain<sigmoid>},
    Entry{"sigmoid_accurate", plain<sigmoid>},
    Entry{"silu", plain<silu>},
    Entry{"square", plain<square>},
};

}  // namespace

ExactEach find_exact_each(std::string_view name) {
  const auto found = std::ranges::find(kFunctions, name, &Entry::first);
  return found == kFunctions.end() ? nullptr : found->second;
}

}  // namespace opwright
