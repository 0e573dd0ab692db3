// Functions of data recipes with the same bits on every machine. The C library's differ in their last digit between
// versions and processors; sums, products, quotients and square roots do not, so these are made of nothing else.
// Good to about 1e-14 in the ranges that recipes use: for making data, never for judging it.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace opwright {

// Of a positive, normal number.
inline double portable_log(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  auto exponent = static_cast<std::int64_t>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFFULL) | 0x3FF0000000000000ULL);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  const double s = (m - 1) / (m + 1);  // log m = 2 (s + s^3/3 + s^5/5 + …), |s| < 0.172
  const double square = s * s;
  double sum = 0.0;
  for (int k = 19; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return static_cast<double>(exponent) * 0.6931471805599453 + 2 * s * sum;
}

// Of |x| < 700.
inline double portable_exp(double x) {
  const auto power = static_cast<std::int64_t>(x * 1.4426950408889634 + (x < 0 ? -0.5 : 0.5));
  const double r = x - static_cast<double>(power) * 0.6931471805599453;
  double sum = 1.0;
  for (int k = 14; k >= 1; --k) sum = 1 + sum * r / k;
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(power + 1023) << 52);
}

// Of |x| < 1e6 turns or so; the further out, the fewer digits.
inline double portable_cos(double x) {
  const double turns = x * 0.15915494309189535;
  const double whole = static_cast<double>(static_cast<std::int64_t>(turns + (turns < 0 ? -0.5 : 0.5)));
  double r = (turns - whole) * 6.283185307179586;  // -pi … pi
  if (r < 0) r = -r;
  const bool far = r > 1.5707963267948966;
  if (far) r = 3.141592653589793 - r;
  const double square = r * r;
  double sum = 1.0;
  for (int k = 20; k >= 2; k -= 2) sum = 1 - sum * square / (k * (k - 1));
  return far ? -sum : sum;
}
inline double portable_sin(double x) { return portable_cos(x - 1.5707963267948966); }

}  // namespace opwright
