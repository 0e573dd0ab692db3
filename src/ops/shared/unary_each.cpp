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

// exp(x) of x <= 0 as 2^n times a polynomial of what is left, |r| <= ln 2 / 2, with the terms that a float can see.
// Below the smallest normal number it stays at it.
[[gnu::always_inline]] inline float exp_of(float x) {
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLn2High = 0x1.62e4p-1F;  // n times it is exact
  constexpr float kLn2Low = 0x1.7f7d1cp-20F;
  constexpr float kToWhole = 0x1.8p23F;
  constexpr float kLeast = -87.0F;
  const float within = x < kLeast ? kLeast : x;
  const float shifted = within * kLog2E + kToWhole;
  const float n = shifted - kToWhole;
  const float r = (within - n * kLn2High) - n * kLn2Low;
  float sum = 1.0F / 720;
  sum = sum * r + 1.0F / 120;
  sum = sum * r + 1.0F / 24;
  sum = sum * r + 1.0F / 6;
  sum = sum * r + 0.5F;
  sum = sum * r + 1.0F;
  sum = sum * r + 1.0F;
  // The whole number stands in the last bits of what it was shifted into.
  const float power = std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) + 127) << 23);
  return sum * power;
}

// The same of any x, with the range of a double and the bits of a float.
[[gnu::always_inline]] inline double wide_exp_of(double x) {
  constexpr double kLog2E = 1.4426950408889634;
  constexpr double kLn2 = 0.6931471805599453;
  constexpr double kToWhole = 0x1.8p52;
  constexpr double kLeast = -708.0, kMost = 709.0;
  double within = x < kLeast ? kLeast : x;
  within = within > kMost ? kMost : within;
  const double shifted = within * kLog2E + kToWhole;
  const double r = within - (shifted - kToWhole) * kLn2;
  double sum = 1.0 / 5040;
  sum = sum * r + 1.0 / 720;
  sum = sum * r + 1.0 / 120;
  sum = sum * r + 1.0 / 24;
  sum = sum * r + 1.0 / 6;
  sum = sum * r + 0.5;
  sum = sum * r + 1.0;
  sum = sum * r + 1.0;
  const double power = std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + 1023) << 52);
  return x < kLeast ? 0.0 : (x > kMost ? kInfinity : sum * power);
}

[[gnu::always_inline]] inline float sigmoid_of(float x) {
  const float e = exp_of(-std::abs(x));
  const float below = e / (1.0F + e);
  return x >= 0 ? 1.0F - below : below;
}

// The part of a normal distribution below x: exp(-x^2 / 2) times a polynomial of t = 1 / (1 + |x| / sqrt 8), fitted to
// it between 0 and 13, where a float holds nothing of it any more.
[[gnu::always_inline]] inline float normal_below(float x) {
  constexpr float kTerms[] = {0.28208799F, 0.28234806F,  0.24329990F, 0.20191788F, -0.02482251F,
                              0.27546734F, -0.48494075F, 0.28348951F, -0.05884749F};
  const float size = std::abs(x) * 0.70710678F;
  const float t = 1.0F / (1.0F + 0.5F * size);
  float sum = kTerms[8];
  for (int i = 7; i >= 0; --i) sum = sum * t + kTerms[i];
  const float tail = 0.5F * exp_of(-size * size) * (sum * t);
  return x >= 0 ? 1.0F - tail : tail;
}

// x times a gate that is nothing where x is far below 0. Minus infinity gives NaN, as in unary_exact.cpp: nothing is
// promised there. Written without a question about the gate, which would keep loops out of wide registers.
[[gnu::always_inline]] inline double gated(double x, float gate) {
  constexpr double kFar = -100;
  const double near = x < kFar ? kFar : x;
  const double below = x < 0 ? x : 0.0;
  return near * static_cast<double>(gate) + (below - below);
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
  for (std::size_t i = 0; i < n; ++i) values[i] = wide_exp_of(values[i]);
}
OPWRIGHT_VECTORISED(void, exp, (double* values, std::size_t n), (values, n))

[[gnu::always_inline]] inline void sigmoid_loop(double* values, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<double>(sigmoid_of(static_cast<float>(values[i])));
}
OPWRIGHT_VECTORISED(void, sigmoid, (double* values, std::size_t n), (values, n))

[[gnu::always_inline]] inline void silu_loop(double* values, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) values[i] = gated(values[i], sigmoid_of(static_cast<float>(values[i])));
}
OPWRIGHT_VECTORISED(void, silu, (double* values, std::size_t n), (values, n))

[[gnu::always_inline]] inline void gelu_loop(double* values, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) values[i] = gated(values[i], normal_below(static_cast<float>(values[i])));
}
OPWRIGHT_VECTORISED(void, gelu, (double* values, std::size_t n), (values, n))

[[gnu::always_inline]] inline void tanh_loop(double* values, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const auto x = static_cast<float>(values[i]);
    const float size = std::abs(x);
    const float e = exp_of(-2.0F * size);
    const float far = (1.0F - e) / (1.0F + e);
    const float close = size - size * size * size * (1.0F / 3);  // where 1 - e has no bits
    const float found = size < 0x1p-6F ? close : far;
    values[i] = static_cast<double>(std::copysign(found, x));
  }
}
OPWRIGHT_VECTORISED(void, tanh, (double* values, std::size_t n), (values, n))

template <void (*F)(double*, std::size_t)>
void plain(std::span<double> values, Params) {
  F(values.data(), values.size());
}

using Entry = std::pair<std::string_view, ExactEach>;
constexpr std::array kFunctions{
    Entry{"exp", plain<exp>},
    Entry{"gelu", plain<gelu>},
    Entry{"hardtanh",
          [](std::span<double> v, Params p) { within(v.data(), v.size(), param(p, 0, -1), param(p, 1, 1)); }},
    Entry{"leaky_relu", [](std::span<double> v, Params p) { leak(v.data(), v.size(), param(p, 0, 0.01)); }},
    Entry{"relu", [](std::span<double> v, Params) { within(v.data(), v.size(), 0, kInfinity); }},
    Entry{"relu6", [](std::span<double> v, Params) { within(v.data(), v.size(), 0, 6); }},
    Entry{"sigmoid", plain<sigmoid>},
    Entry{"sigmoid_accurate", plain<sigmoid>},
    Entry{"silu", plain<silu>},
    Entry{"square", plain<square>},
    Entry{"tanh", plain<tanh>},
};

}  // namespace

ExactEach find_exact_each(std::string_view name) {
  const auto found = std::ranges::find(kFunctions, name, &Entry::first);
  return found == kFunctions.end() ? nullptr : found->second;
}

}  // namespace opwright
