#include "compare/float_pass.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/vectorised.h"

namespace opwright {
namespace {

constexpr std::size_t kBlock = 1024;

// Sums over finite pairs, taken from a first guess of the mean so that little is lost to cancellation.
struct Sums {
  double e = 0.0;
  double a = 0.0;
  double ee = 0.0;
  double aa = 0.0;
  double ea = 0.0;
  double squared_error = 0.0;
  double ulp = 0.0;
  float max_abs = 0.0F;
  float max_ulp = 0.0F;
};

[[gnu::always_inline]] inline bool all_finite_loop(const float* x, const float* y, std::size_t n) {
  std::uint32_t worst = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t a = std::bit_cast<std::uint32_t>(x[i]) & 0x7F800000u;
    const std::uint32_t b = std::bit_cast<std::uint32_t>(y[i]) & 0x7F800000u;
    worst |= static_cast<std::uint32_t>(a == 0x7F800000u) | static_cast<std::uint32_t>(b == 0x7F800000u);
  }
  return worst == 0;
}
OPWRIGHT_VECTORISED(bool, all_finite, (const float* x, const float* y, std::size_t n), (x, y, n))

// Four at a time in the compiler's own vector types: arrays of lanes end up in memory instead of registers.
using Float4 = float __attribute__((vector_size(16)));
using Bits4 = std::uint32_t __attribute__((vector_size(16)));
using Double4 = double __attribute__((vector_size(32)));
constexpr std::size_t kWide = 4;

// Adds `n` pairs, a multiple of kWide.
[[gnu::always_inline]] inline void add_whole(const float* expected, const float* actual, std::size_t n, float shift,
                                             Sums* sums) {
  Double4 e_sum{}, a_sum{}, ee{}, aa{}, ea{}, squared{}, ulp{};
  Bits4 max_abs{}, max_ulp{};  // floats without a sign are ordered as their bits are
  const double first = static_cast<double>(shift);
  const Bits4 smallest = Bits4{} + 0x00800000u;
  for (std::size_t i = 0; i < n; i += kWide) {
    Float4 e;
    Float4 a;
    std::memcpy(&e, expected + i, sizeof e);
    std::memcpy(&a, actual + i, sizeof a);
    const Bits4 error_bits = std::bit_cast<Bits4>(a - e) & 0x7FFFFFFFu;
    const Bits4 exponent = std::bit_cast<Bits4>(e) & 0x7F800000u;
    const Bits4 clamped = exponent > smallest ? exponent : smallest;  // below: the step of denormals
    const Float4 error = std::bit_cast<Float4>(error_bits);
    const Float4 steps = error / std::bit_cast<Float4>(clamped) * 0x1p23F;
    const Bits4 step_bits = std::bit_cast<Bits4>(steps);
    max_abs = error_bits > max_abs ? error_bits : max_abs;
    max_ulp = step_bits > max_ulp ? step_bits : max_ulp;
    const Double4 e_off = __builtin_convertvector(e, Double4) - first;
    const Double4 a_off = __builtin_convertvector(a, Double4) - first;
    const Double4 d = __builtin_convertvector(error, Double4);
    e_sum += e_off;
    a_sum += a_off;
    ee += e_off * e_off;
    aa += a_off * a_off;
    ea += e_off * a_off;
    squared += d * d;
    ulp += __builtin_convertvector(steps, Double4);
  }
  for (std::size_t l = 0; l < kWide; ++l) {
    sums->e += e_sum[l];
    sums->a += a_sum[l];
    sums->ee += ee[l];
    sums->aa += aa[l];
    sums->ea += ea[l];
    sums->squared_error += squared[l];
    sums->ulp += ulp[l];
    sums->max_abs = std::max(sums->max_abs, std::bit_cast<float>(std::uint32_t{max_abs[l]}));
    sums->max_ulp = std::max(sums->max_ulp, std::bit_cast<float>(std::uint32_t{max_ulp[l]}));
  }
}

[[gnu::always_inline]] inline void add_block_loop(const float* expected, const float* actual, std::size_t n,
                                                  float shift, Sums* sums) {
  const std::size_t whole = n / kWide * kWide;
  add_whole(expected, actual, whole, shift, sums);
  if (whole == n) return;
  // The last ones, filled up with pairs that add nothing to any sum.
  float e[kWide];
  float a[kWide];
  std::fill_n(e, kWide, shift);
  std::fill_n(a, kWide, shift);
  std::copy(expected + whole, expected + n, e);
  std::copy(actual + whole, actual + n, a);
  add_whole(e, a, kWide, shift, sums);
}
OPWRIGHT_VECTORISED(void, add_block,
                    (const float* expected, const float* actual, std::size_t n, float shift, Sums* sums),
                    (expected, actual, n, shift, sums))

bool finite(float value) { return (std::bit_cast<std::uint32_t>(value) & 0x7F800000u) != 0x7F800000u; }

}  // namespace

FloatFigures compare_floats(std::span<const float> expected, std::span<const float> actual) {
  const std::size_t n = std::min(expected.size(), actual.size());
  FloatFigures figures;
  const auto first = std::ranges::find_if(expected, finite);
  const float shift = first == expected.end() ? 0.0F : *first;
  Sums sums;
  float e_kept[kBlock];
  float a_kept[kBlock];
  for (std::size_t start = 0; start < n; start += kBlock) {
    const std::size_t size = std::min(kBlock, n - start);
    const float* e = expected.data() + start;
    const float* a = actual.data() + start;
    if (all_finite(e, a, size)) {
      add_block(e, a, size, shift, &sums);
      figures.count += size;
      continue;
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size; ++i) {
      if (!finite(e[i]) || !finite(a[i])) continue;
      e_kept[kept] = e[i];
      a_kept[kept] = a[i];
      ++kept;
    }
    add_block(e_kept, a_kept, kept, shift, &sums);
    figures.count += kept;
    figures.nonfinite += size - kept;
  }
  if (figures.count == 0) {
    figures.pcc = std::numeric_limits<double>::quiet_NaN();
    return figures;
  }
  const double count = static_cast<double>(figures.count);
  const double covariance = sums.ea - sums.e * sums.a / count;
  const double e_spread = std::max(0.0, sums.ee - sums.e * sums.e / count);
  const double a_spread = std::max(0.0, sums.aa - sums.a * sums.a / count);
  figures.pcc = covariance / (std::sqrt(e_spread) * std::sqrt(a_spread));
  figures.max_abs = static_cast<double>(sums.max_abs);
  figures.rms = std::sqrt(sums.squared_error / count);
  figures.ulp_max = sums.max_ulp;
  figures.ulp_mean = sums.ulp / count;
  return figures;
}

}  // namespace opwright
