#include "device/sim/sfpu_lane.h"

#include <algorithm>
#include <limits>

namespace opwright::sim::lane {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
bool is_zero(float value) { return exponent_of(value) == 0; }

constexpr float kNearest = 0x1.8p23F;  // added and taken away again: rounds to an integer

// The argument less the nearest multiple of the period, which is spread over four constants. The multiple is one of
// 24 bits: beyond that the result is far outside the range that the polynomial is made for, and grows without bound.
float reduce(float x, float multiple, float p0, float p1, float p2, float p3) {
  float rest = add(x, mul(multiple, p0));
  rest = add(rest, mul(multiple, p1));
  rest = add(rest, mul(multiple, p2));
  return add(rest, mul(multiple, p3));
}

float sine_of_reduced(float rest, bool odd) {
  const float square = mul(rest, rest);
  if (odd) rest = -rest;
  float r = mad(-0x1.8b10a4p-13F, square, 0x1.10c2a2p-7F);
  r = mad(r, square, -0x1.5554a4p-3F);
  return mad(r, mul(rest, square), rest);
}

constexpr float kInversePi = 0.31830988618379067F;

// A first guess from half the exponent, made better twice.
float sqrt_guessed(float x) {
  if (x == 0.0F || exponent_of(x) == 0xFF) return x;
  float guess = value_of(0x5F370000U - (bits_of(x) >> 1));
  for (int i = 0; i < 2; ++i) {
    guess = mul(mad(mul(guess, guess), mul(x, -0.5F), 1.5F), guess);
  }
  return mul(guess, x);
}

}  // namespace

float mad(float a, float b, float c) {
  const int exponent_a = exponent_of(a);
  const int exponent_b = exponent_of(b);
  const int exponent_c = exponent_of(c);
  if (exponent_a == 0xFF || exponent_b == 0xFF || exponent_c == 0xFF) {
    const float product = mul(a, b);
    return std::isnan(product) ? product : flush(product + flush(c));
  }
  const int exponent_p = exponent_a + exponent_b - 127;
  if (exponent_a == 0 || exponent_b == 0 || exponent_p < 0) return flush(c);
  const std::uint32_t sign_p = (bits_of(a) ^ bits_of(b)) & 0x80000000U;
  if (exponent_p >= 0xFF) return value_of(sign_p | 0x7F800000U);

  // Both terms in units of 2^-26 of their exponents; bits that fall out leave a one behind while anything remains.
  const auto shifted = [](std::uint32_t value, int by, int limit) {
    const std::uint32_t rest = by < limit ? value >> by : 0;
    return rest != 0 && rest << by != value ? rest | 1 : rest;
  };
  const std::uint64_t product =
      static_cast<std::uint64_t>((bits_of(a) & 0x7FFFFF) | 0x800000) * ((bits_of(b) & 0x7FFFFF) | 0x800000);
  auto term_p = static_cast<std::uint32_t>(product >> 20) | ((product & 0xFFFFF) != 0 ? 1U : 0U);
  std::uint32_t term_c = exponent_c == 0 ? 0 : ((bits_of(c) & 0x7FFFFF) | 0x800000) << 3;
  const int exponent = std::max(exponent_p, exponent_c);
  term_p = shifted(term_p, exponent - exponent_p, 28);
  term_c = shifted(term_c, exponent - exponent_c, 27);
  const std::int64_t sum = (sign_p != 0 ? -static_cast<std::int64_t>(term_p) : term_p) +
                           (bits_of(c) >> 31 != 0 ? -static_cast<std::int64_t>(term_c) : term_c);
  if (sum == 0) return 0.0F;
  return flush(static_cast<float>(std::ldexp(static_cast<double>(static_cast<float>(sum)), exponent - 127 - 26)));
}

float exp2_quadratic(float biased, float start) {
  biased = std::min(std::max(biased, 0.0F), 255.0F);
  const int exponent = exponent_of(biased) - 127;
  const std::uint32_t significand = (bits_of(biased) & 0x7FFFFF) | 0x800000;
  // Shifts of 32 and more take the count modulo 32, to the right for negative ones.
  const std::uint32_t fixed = exponent >= 0 ? significand << (exponent & 31) : significand >> (-exponent & 31);
  const auto fraction = static_cast<float>(fixed & 0x7FFFFF);
  const float power = polynomial(fraction, start, 7.839635491371155e-08F, 4.791750143340323e-15F);
  return value_of((bits_of(power) & 0x807FFFFFU) | (fixed & 0x7F800000U));
}

float exp_quadratic(float x, float start) { return exp2_quadratic(mad(x, 1.4426950216293335F, 127.0F), start); }

float reciprocal(float x, int steps, bool to_bf16) {
  const float negative = value_of((bits_of(x) & 0x7FFFFF) | 0xBF800000U);  // -1 to -2
  float guess = mad(0.3232325017452239990234375F, negative, 1.4545459747314453125F);
  guess = mad(guess, negative, 2.121212482452392578125F);
  for (int i = 0; i < steps; ++i) guess = mad(guess, mad(negative, guess, 1.0F), guess);
  if (to_bf16) guess = round_bf16(guess);
  // The complement of the exponent is the scale: it runs out at both ends.
  const float scale = mul(value_of(~bits_of(x) & 0xFF800000U), 0.5F);
  return std::copysign(mul(guess, scale), x);
}

float sigmoid(float x) { return reciprocal(add(1.0F, exp_quadratic(-x)), 1); }

float sigmoid_lines(float x) {
  const float size = std::fabs(x);
  const float line = size < 1.0F ? mul(size, 0.2265625F) : size < 2.0F ? mad(size, 0.265625F, -0.046875F) : 0.5F;
  return add(std::copysign(line, x), 0.5F);
}

float gelu(float x) {
  if (!(x > -5.54259443F)) return 0.0F;
  if (x >= 2.78125F) return x;
  const float square = mul(x, x);
  if (x >= -3.125F) {
    const float odd = polynomial(square, 3.9894227818e-01F, -6.6361041488e-02F, 9.7720050615e-03F, -1.0717806322e-03F,
                                 8.1812159812e-05F, -3.8082057209e-06F, 7.9821413868e-08F);
    return mul(x, mad(x, odd, 0.5F));
  }
  const float tail = mul(exp2_quadratic(mad(square, -0.72134752044F, 127.0F)),
                         polynomial(x, 3.0369991064e-01F, 9.5413386822e-02F, 1.3809983619e-02F, 7.5950479368e-04F));
  return mul(x, add(add(tail, 0.375F), -0.375F));  // to a multiple of 2^-25
}

float gelu_lines(float x) {
  // Slopes and offsets as 16-bit floats hold them.
  struct Line {
    float below;
    float slope;
    float offset;
  };
  constexpr Line kLines[] = {{0.5F, 0.19274902F, -0.00010442734F}, {1.0F, 0.49389648F, -0.16040039F},
                             {1.5F, 0.61865234F, -0.27954102F},    {2.0F, 0.60986328F, -0.26342773F},
                             {3.0F, 0.54003906F, -0.11938477F},    {kInfinity, 0.5F, 0.0F}};
  const float size = std::fabs(x);
  const Line* line = kLines;
  while (line->below <= size && line->below != kInfinity) ++line;
  return mad(x, 0.5F, mad(size, line->slope, line->offset));
}

float exp_shifted(float x) {
  if (x < -88.5F) x = -88.5F;
  const float scaled = mad(x, 369.329925537109375F, 32500.818359375F);
  const double rounded = std::floor(static_cast<double>(scaled) + 0.5);
  const auto magnitude = static_cast<std::uint32_t>(std::clamp(rounded, 0.0, 65535.0));
  return value_of(magnitude << 15);
}

float sine(float x) {
  const float biased = mad(x, kInversePi, kNearest);
  const float multiple = add(biased, -kNearest);
  const float rest = reduce(x, multiple, -0x1.92p+1F, -0x1.fbp-11F, -0x1.51p-21F, -0x1.0b4612p-33F);
  return sine_of_reduced(rest, (bits_of(biased) & 1) != 0);
}

float cosine(float x) {
  const float biased = add(mad(x, kInversePi, 0.5F), kNearest);
  const float multiple = mad(add(biased, -kNearest), 2.0F, -1.0F);
  const float rest = reduce(x, multiple, -0x1.92p+0F, -0x1.fbp-12F, -0x1.51p-22F, -0x1.0b4612p-34F);
  return sine_of_reduced(rest, (bits_of(biased) & 1) != 0);
}

float erf_rational(float x) {
  x = std::clamp(x, -10.0F, 10.0F);
  const float square = mul(x, x);
  const float above =
      mul(x, polynomial(square, 1.1280932447F, 2.7609212279e-01F, 4.5400281738e-02F, 7.4481184425e-04F));
  const float below =
      polynomial(square, 1.0F, 5.7439188334e-01F, 1.3675764810e-01F, 8.2844606784e-03F, 2.4813862145e-05F);
  return std::clamp(mul(above, reciprocal(below)), -1.0F, 1.0F);
}

float log_quadratic(float x, float scale) {
  if (!(x >= 0.0F)) return kInfinity;
  if (is_zero(x)) return -kInfinity;
  if (exponent_of(x) == 0xFF) return kInfinity;
  // A power of two and a rest between 3/4 and 3/2.
  const auto apart = static_cast<std::int32_t>((bits_of(x) - bits_of(0.75F)) & 0xFF800000U);
  const float m = add(value_of(bits_of(x) - static_cast<std::uint32_t>(apart)), -1.0F);
  float r = mad(-0.25F, m, 0x1.744p-2F);
  r = mad(r, m, -0x1.008p-1F);
  r = mad(r, mul(m, m), m);
  const auto exponent = static_cast<float>(apart);
  if (scale == 1.0F) return mad(exponent, 0.693147182F * 0x1p-23F, r);
  return mad(exponent, 0x1p-23F, mul(r, scale));
}

float erfinv(float x) {
  const float logarithm = log_quadratic(mad(-x, x, 1.0F));
  const float middle = mad(-0.5F, logarithm, -4.330746750799873F);
  const float inner = mad(middle, middle, mul(-logarithm, 6.802721088435375F));
  const float result = sqrt_guessed(add(middle, sqrt_guessed(inner)));
  return std::copysign(result, x);
}

float power(float base, float exponent) {
  const float size = std::fabs(base);
  const float x = value_of((bits_of(size) & 0x7FFFFF) | 0x3F800000U);
  float series = mad(x, 0x2.44734p-4F, -0xd.e712ap-4F);
  series = mad(x, series, 0x2.4f5388p+0F);
  series = mad(x, series, -0x1.952992p+0F);
  const float logarithm = mad(series, 1.4426950408889634F, static_cast<float>(exponent_of(base) - 127));
  float z = mul(exponent, logarithm);
  if (z < -127.0F) z = -127.0F;
  // z + 127 in fixed point with 23 bits is the bits of 2^z, but for the bend that two linear factors put in.
  const float fixed = add(mul(z, 0x1p23F), static_cast<float>(0x3F800000));
  const auto whole = static_cast<std::uint32_t>(std::clamp(static_cast<double>(fixed), 0.0, 2147483647.0));
  const std::uint32_t fraction = whole & 0x7FFFFF;
  const float factor = mul(0.40196114e-7F, static_cast<float>(0xF94EE7 + fraction));
  const float bent = mul(factor, static_cast<float>(0x560E + fraction));
  const auto mantissa = static_cast<std::uint32_t>(std::clamp(static_cast<double>(bent), 0.0, 2147483647.0));
  float result = value_of((mantissa & 0x7FFFFF) | (whole & 0x7F800000U));
  const float integer = std::clamp(std::round(exponent), -32767.0F, 32767.0F);
  if (base < 0.0F) {
    if (std::fmod(integer, 2.0F) != 0.0F) result = -result;
    if (integer != exponent) result = kInfinity;
  }
  if (size == 0.0F && exponent != 0.0F) result = exponent < 0.0F ? kInfinity : 0.0F;
  return result;
}

float rsqrt(float x) {
  if ((bits_of(x) & 0x7FFFFFFF) == 0) return kInfinity;
  if (bits_of(x) >> 31 != 0) return kInfinity;
  if (exponent_of(x) == 0xFF) return (bits_of(x) & 0x7FFFFF) == 0 ? 0.0F : -kInfinity;
  // The guess is made from the bits, and denormals have some too; what would make it better is lost with them.
  if (exponent_of(x) == 0) return mul(value_of(0x5F1110A0U - (bits_of(x) >> 1)), 3.4168F);
  return 1.0F / std::sqrt(x);
}

}  // namespace opwright::sim::lane
