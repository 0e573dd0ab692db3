#include "compare/pcc.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/vectorised.h"
#include "compare/allclose.h"

namespace opwright {
namespace {

constexpr std::array kVariants{PccVariant::kCurrent, PccVariant::kJune2026, PccVariant::kCorrcoef, PccVariant::kTtLib};
constexpr std::size_t kLanes = 8;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// What one look at both tensors tells.
struct Survey {
  bool all_nan[2] = {true, true};
  bool any_nonzero[2] = {false, false};
  bool finite = true;
};

template <class T>
Survey survey(std::span<const T> golden, std::span<const T> calculated) {
  Survey seen;
  const std::array sides{golden, calculated};
  for (int side = 0; side < 2; ++side) {
    std::size_t nans = 0;
    std::size_t nonfinite = 0;
    std::size_t nonzero = 0;
    for (const T value : sides[static_cast<std::size_t>(side)]) {
      nans += value != value;
      nonfinite += !(value - value == T{0});
      nonzero += value != T{0};
    }
    seen.all_nan[side] = nans == sides[static_cast<std::size_t>(side)].size();
    seen.any_nonzero[side] = nonzero != 0;
    seen.finite = seen.finite && nonfinite == 0;
  }
  return seen;
}

struct Moments {
  double covariance = 0.0;
  double golden = 0.0;
  double calculated = 0.0;
};

[[gnu::always_inline]] inline double sum_floats_loop(const float* x, std::size_t n) {
  double lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t l = 0; l < kLanes; ++l) lanes[l] += static_cast<double>(x[i + l]);
  }
  double rest = 0.0;
  for (; i < n; ++i) rest += static_cast<double>(x[i]);
  for (const double lane : lanes) rest += lane;
  return rest;
}
OPWRIGHT_VECTORISED(double, sum_floats, (const float* x, std::size_t n), (x, n))

[[gnu::always_inline]] inline Moments float_moments_loop(const float* g, const float* c, std::size_t n, float g_mean,
                                                         float c_mean) {
  double cov[kLanes] = {};
  double gg[kLanes] = {};
  double cc[kLanes] = {};
  std::size_t i = 0;
  Moments sums;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t l = 0; l < kLanes; ++l) {
      const float a = g[i + l] - g_mean;
      const float b = c[i + l] - c_mean;
      const float ab = a * b;
      const float aa = a * a;
      const float bb = b * b;
      cov[l] += static_cast<double>(ab);
      gg[l] += static_cast<double>(aa);
      cc[l] += static_cast<double>(bb);
    }
  }
  for (; i < n; ++i) {
    const float a = g[i] - g_mean;
    const float b = c[i] - c_mean;
    sums.covariance += static_cast<double>(a * b);
    sums.golden += static_cast<double>(a * a);
    sums.calculated += static_cast<double>(b * b);
  }
  for (std::size_t l = 0; l < kLanes; ++l) {
    sums.covariance += cov[l];
    sums.golden += gg[l];
    sums.calculated += cc[l];
  }
  return sums;
}
OPWRIGHT_VECTORISED(Moments, float_moments, (const float* g, const float* c, std::size_t n, float g_mean, float c_mean),
                    (g, c, n, g_mean, c_mean))

template <class T>
Moments double_moments(std::span<const T> g, std::span<const T> c) {
  double g_sum = 0.0;
  double c_sum = 0.0;
  for (std::size_t i = 0; i < g.size(); ++i) {
    g_sum += static_cast<double>(g[i]);
    c_sum += static_cast<double>(c[i]);
  }
  const double n = static_cast<double>(g.size());
  Moments sums;
  for (std::size_t i = 0; i < g.size(); ++i) {
    const double a = static_cast<double>(g[i]) - g_sum / n;
    const double b = static_cast<double>(c[i]) - c_sum / n;
    sums.covariance += a * b;
    sums.golden += a * a;
    sums.calculated += b * b;
  }
  return sums;
}

double coefficient(const Moments& sums) { return sums.covariance / std::sqrt(sums.golden * sums.calculated); }

double direct_pcc(std::span<const float> g, std::span<const float> c) {
  const double n = static_cast<double>(g.size());
  const auto g_mean = static_cast<float>(rounded(NumberKind::kFloat32, sum_floats(g.data(), g.size()) / n));
  const auto c_mean = static_cast<float>(rounded(NumberKind::kFloat32, sum_floats(c.data(), c.size()) / n));
  const Moments sums = float_moments(g.data(), c.data(), g.size(), g_mean, c_mean);
  if (std::isfinite(sums.covariance) && std::isfinite(sums.golden * sums.calculated)) return coefficient(sums);
  // Squares of large floats leave the range of float: they are then taken in double, of the same centred floats.
  Moments wide;
  for (std::size_t i = 0; i < g.size(); ++i) {
    const auto a = static_cast<double>(g[i] - g_mean);
    const auto b = static_cast<double>(c[i] - c_mean);
    wide.covariance += a * b;
    wide.golden += a * a;
    wide.calculated += b * b;
  }
  return coefficient(wide);
}
double direct_pcc(std::span<const double> g, std::span<const double> c) { return coefficient(double_moments(g, c)); }

// numpy takes everything as double; its matrix has the two self-correlations beside the coefficient.
template <class T>
double corrcoef_pcc(std::span<const T> g, std::span<const T> c, bool with_diagonal) {
  if (g.size() < 2) return kNan;
  const Moments sums = double_moments(g, c);
  const double r = sums.covariance / (std::sqrt(sums.golden) * std::sqrt(sums.calculated));
  if (!with_diagonal || std::isnan(r)) return r;
  const double g_self = sums.golden / (std::sqrt(sums.golden) * std::sqrt(sums.golden));
  const double c_self = sums.calculated / (std::sqrt(sums.calculated) * std::sqrt(sums.calculated));
  return std::min({r, g_self, c_self});
}

template <class T>
bool constant(std::span<const T> values) {
  return std::ranges::all_of(values, [&](T value) { return value == values.front(); });
}

// NaN and infinities out of the way: 0, or in the tt-lib variant the largest number for infinities.
template <class T>
std::vector<T> masked(std::span<const T> values, bool keep_infinities, T largest) {
  std::vector<T> out(values.begin(), values.end());
  for (T& value : out) {
    if (std::isfinite(value)) continue;
    value = keep_infinities && std::isinf(value) ? std::copysign(largest, value) : T{0};
  }
  return out;
}

template <class T>
Numbers as_numbers(NumberKind kind, std::span<const T> values) {
  if constexpr (std::is_same_v<T, float>) {
    return {.kind = kind, .floats = values};
  } else {
    return float64_numbers(values);
  }
}

PccCheck by_allclose(bool close) { return {close, close ? 1.0 : 0.0}; }

template <class T>
PccCheck compare(NumberKind kind, std::span<const T> golden, std::span<const T> calculated, const PccRule& rule) {
  const PccVariant variant = rule.variant;
  const Survey seen = survey(golden, calculated);
  if (seen.all_nan[0] && seen.all_nan[1]) return {true, 1.0};
  if (seen.all_nan[0] != seen.all_nan[1]) return {false, 0.0};
  if (seen.any_nonzero[0] != seen.any_nonzero[1]) {
    if (variant != PccVariant::kCurrent) return {false, 0.0};
    return by_allclose(all_close(as_numbers(kind, golden), as_numbers(kind, calculated), rule.rtol, rule.atol));
  }
  std::vector<T> golden_masked;
  std::vector<T> calculated_masked;
  if (!seen.finite) {
    T largest = std::numeric_limits<T>::max();
    if (kind == NumberKind::kBfloat16) largest = static_cast<T>(0x1.FEp127);
    golden_masked = masked(golden, variant == PccVariant::kTtLib, largest);
    calculated_masked = masked(calculated, variant == PccVariant::kTtLib, largest);
    golden = golden_masked;
    calculated = calculated_masked;
  }
  if (std::ranges::equal(golden, calculated)) return {true, 1.0};
  const auto close = [&] {
    return by_allclose(all_close(as_numbers(NumberKind::kFloat32, golden), as_numbers(NumberKind::kFloat32, calculated),
                                 rule.rtol, rule.atol));
  };
  double r = kNan;
  switch (variant) {
    case PccVariant::kCurrent:
      r = direct_pcc(golden, calculated);
      if (std::isnan(r)) return close();
      break;
    case PccVariant::kJune2026:
      r = direct_pcc(golden, calculated);
      if (std::isnan(r)) return {true, 1.0};
      break;
    case PccVariant::kCorrcoef:
      r = corrcoef_pcc(golden, calculated, true);
      if (std::isnan(r)) return {true, 1.0};
      break;
    case PccVariant::kTtLib:
      if (golden.size() == 1 || constant(golden) || constant(calculated)) return close();
      r = corrcoef_pcc(golden, calculated, false);
      if (std::isnan(r)) return {true, 1.0};
      break;
  }
  return {r >= rule.threshold, r};
}

}  // namespace

std::string_view name_of(PccVariant variant) {
  switch (variant) {
    case PccVariant::kCurrent:
      return "pcc";
    case PccVariant::kJune2026:
      return "pcc-2026-06";
    case PccVariant::kCorrcoef:
      return "pcc-corrcoef";
    case PccVariant::kTtLib:
      return "pcc-tt-lib";
  }
  return "";
}

std::optional<PccVariant> parse_pcc_variant(std::string_view name) {
  for (const PccVariant variant : kVariants) {
    if (name_of(variant) == name) return variant;
  }
  return std::nullopt;
}

std::span<const PccVariant> all_pcc_variants() { return kVariants; }

Result<PccCheck> comp_pcc(Numbers golden, Numbers calculated, PccRule rule) {
  if (golden.size() != calculated.size()) {
    return fail(ErrorCode::kUsage, fmt::format("{} values against {}", golden.size(), calculated.size()));
  }
  if (rule.variant == PccVariant::kTtLib) {
    rule.rtol = 1e-5;
    rule.atol = 1e-8;
  }
  OwnedNumbers storage;
  Numbers same = converted(calculated, golden.kind, storage);
  if (golden.kind == NumberKind::kFloat64) return compare(golden.kind, golden.doubles, same.doubles, rule);
  if (golden.kind != NumberKind::kInt64) return compare(golden.kind, golden.floats, same.floats, rule);
  // Equal integers are equal whatever their float32 values are; others are compared as float32.
  if (all_equal(golden, same)) return PccCheck{true, 1.0};
  OwnedNumbers golden_floats;
  OwnedNumbers same_floats;
  golden = converted(golden, NumberKind::kFloat32, golden_floats);
  same = converted(same, NumberKind::kFloat32, same_floats);
  return compare(golden.kind, golden.floats, same.floats, rule);
}

}  // namespace opwright
