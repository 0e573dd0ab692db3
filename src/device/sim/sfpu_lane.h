// One lane of the vector unit: float32 arithmetic to nearest, denormals and negative zero become zero.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace opwright::sim::lane {

inline std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
inline float value_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }
inline int exponent_of(float value) { return static_cast<int>(bits_of(value) >> 23 & 0xFF); }

inline float flush(float value) { return exponent_of(value) == 0 ? 0.0F : value; }
// NaN has the sign that the product would have had.
inline float mul(float a, float b) {
  const float product = flush(a) * flush(b);
  if (std::isnan(product)) return value_of(((bits_of(a) ^ bits_of(b)) & 0x80000000U) | 0x7FC00000U);
  return flush(product);
}
inline float add(float a, float b) { return flush(flush(a) + flush(b)); }
// a * b + c, not quite fused: of the product 28 bits are kept, which shows where c cancels most of it.
float mad(float a, float b, float c);

// Polynomial with the lowest coefficient first.
template <class... Rest>
float polynomial(float x, float c0, Rest... rest) {
  if constexpr (sizeof...(rest) == 0) {
    return c0;
  } else {
    return mad(polynomial(x, rest...), x, c0);
  }
}

// To 16 bits: nearest, ties away from zero; NaN becomes Inf. The rounding that kernels ask for by name.
inline float round_bf16(float value) {
  const std::uint32_t bits = bits_of(value);
  if (exponent_of(value) == 0) return 0.0F;
  if (exponent_of(value) == 0xFF) return value_of(bits & 0xFF800000U);
  return value_of((bits + 0x8000) & 0xFFFF0000U);
}

// What a store without rounding leaves.
inline float truncate_bf16(float value) {
  if (exponent_of(value) == 0) return 0.0F;
  return value_of(bits_of(value) >> 16 << 16);
}

// 2^x, where x is biased by 127 and in [0, 255]: integer part to the exponent, and a quadratic through the fraction
// that is off by up to 0.17 %.
inline constexpr float kExpStart = 1.0017248F;      // the quadratic at fraction 0
inline constexpr float kExpStart16 = 1.001953125F;  // the same in a 16-bit constant, as the exponential itself has it
float exp2_quadratic(float biased, float start = kExpStart);
float exp_quadratic(float x, float start = kExpStart);

// The 16-bit functions of the kernels, before their last rounding.
float sigmoid(float x);
float gelu(float x);
float gelu_lines(float x);     // six straight lines
float sigmoid_lines(float x);  // three straight lines
float exp_shifted(float x);    // a scaled sum in the bits of a float
float sine(float x);
float cosine(float x);
float erf_rational(float x);
float erfinv(float x);
// Newton's method from a quadratic; `steps` 1 (16-bit results, rounded on the way) or 2.
float reciprocal(float x, int steps = 2, bool to_bf16 = false);
float rsqrt(float x);
float log_quadratic(float x, float scale = 1.0F);  // scale 1, or 1 / ln 2 for the logarithm to base 2
float power(float base, float exponent);

}  // namespace opwright::sim::lane
