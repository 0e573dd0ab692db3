#include "compare/bound.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/vectorised.h"
#include "model/host_tensor.h"

namespace opwright {
namespace {

constexpr double kSmallestNormal = 0x1p-126;
constexpr std::size_t kGroup = 16;
// Ties that the accumulator rounds away from zero let a sum grow by this many roundoffs each time it takes in
// `kMergedTerms` terms, whatever the fidelity: 6 % over 4096 terms of a bfloat16 destination. A block that goes to an
// outer accumulator counts twice there.
constexpr double kGrowth = 0.07;
constexpr double kMergedTerms = 16;
// The power of two at or below a positive normal number.
[[gnu::always_inline]] inline double power_below(double value) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & 0x7FF0000000000000u);
}

// 1 / a power of two.
[[gnu::always_inline]] inline double inverse_power(double power) {
  return std::bit_cast<double>((std::uint64_t{2046} << 52) - std::bit_cast<std::uint64_t>(power));
}

// The value where that is so, else 0: without a branch, which the data would make hard to foresee.
[[gnu::always_inline]] inline double where(bool so, double value) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & -static_cast<std::uint64_t>(so));
}

[[gnu::always_inline]] inline void element_units_loop(Chunk* chunk, double factor) {
  const double* __restrict exact = chunk->exact;
  for (std::size_t i = 0; i < chunk->n; ++i) {
    const double size = std::abs(exact[i]);
    chunk->unit[i] = power_below(size > kSmallestNormal ? size : kSmallestNormal) * factor;
  }
}
OPWRIGHT_VECTORISED(void, element_units, (Chunk * chunk, double factor), (chunk, factor))

// The largest magnitude of `n` numbers, at least `least`. NaN is none.
[[gnu::always_inline]] inline double largest_size(const double* values, std::size_t n, double least) {
  double largest = least;
  for (std::size_t i = 0; i < n; ++i) {
    const double size = std::abs(values[i]);
    largest = size > largest ? size : largest;
  }
  return largest;
}

// The same of a whole group, in four lanes. __builtin_bit_cast, because passing vectors depends on the build's target.
[[gnu::always_inline]] inline double largest_of_group(const double* values, double least) {
  using Four = double __attribute__((vector_size(32)));
  using Bits = std::int64_t __attribute__((vector_size(32)));
  Four largest = Four{} + least;
  for (std::size_t i = 0; i < kGroup; i += 4) {
    Four size;
    std::memcpy(&size, values + i, sizeof size);
    size = __builtin_bit_cast(Four, __builtin_bit_cast(Bits, size) & 0x7FFFFFFFFFFFFFFF);
    largest = size > largest ? size : largest;
  }
  const double low = largest[0] > largest[1] ? largest[0] : largest[1];
  const double high = largest[2] > largest[3] ? largest[2] : largest[3];
  return low > high ? low : high;
}

[[gnu::always_inline]] inline double group_unit(double expected, double actual, double factor) {
  return power_below(std::max(expected, std::min(actual, 2 * expected))) * factor;
}

[[gnu::always_inline]] inline void group_units_loop(Chunk* chunk, double factor) {
  for (std::size_t row = 0; row < chunk->n; row += chunk->row_length) {
    const std::size_t end = std::min(row + chunk->row_length, chunk->n);
    std::size_t i = row;
    for (; i + kGroup <= end; i += kGroup) {
      const double unit = group_unit(largest_of_group(chunk->exact + i, kSmallestNormal),
                                     largest_of_group(chunk->actual + i, 0.0), factor);
      for (std::size_t j = 0; j < kGroup; ++j) chunk->unit[i + j] = unit;
    }
    if (i == end) continue;
    const double unit = group_unit(largest_size(chunk->exact + i, end - i, kSmallestNormal),
                                   largest_size(chunk->actual + i, end - i, 0.0), factor);
    std::fill(chunk->unit + i, chunk->unit + end, unit);
  }
}
OPWRIGHT_VECTORISED(void, group_units, (Chunk * chunk, double factor), (chunk, factor))

struct ContractionTerms {
  double worst_case;
  double from_exact;
  double from_magnitude;
  double from_unit;
  double ulps;
  double floor_unit;
  double deviations_squared;
  double tiny;
};

[[gnu::always_inline]] inline void contraction_bounds_loop(Chunk* chunk, ContractionTerms terms) {
  const double* __restrict exact = chunk->exact;
  const double* __restrict magnitude = chunk->magnitude;
  for (std::size_t i = 0; i < chunk->n; ++i) {
    const double unit = chunk->unit[i] > terms.floor_unit ? chunk->unit[i] : terms.floor_unit;
    const double e = exact[i];
    const double m = magnitude[i];
    const double variance = terms.from_exact * e * e + terms.from_magnitude * m * m + terms.from_unit * unit * unit +
                            terms.tiny * terms.tiny;
    const double statistical = terms.deviations_squared * variance;
    const double hard = terms.worst_case * m + terms.ulps * unit + terms.tiny;
    chunk->variance[i] = variance;
    chunk->bound_squared[i] = statistical < hard * hard ? statistical : hard * hard;
  }
}
OPWRIGHT_VECTORISED(void, contraction_bounds, (Chunk * chunk, ContractionTerms terms), (chunk, terms))

[[gnu::always_inline]] inline void elementwise_bounds_loop(Chunk* chunk, double ulps, double floor_unit,
                                                           double relative, double tiny) {
  const double* __restrict magnitude = chunk->magnitude;
  for (std::size_t i = 0; i < chunk->n; ++i) {
    const double unit = chunk->unit[i] > floor_unit ? chunk->unit[i] : floor_unit;
    const double bound = ulps * unit + relative * magnitude[i] + tiny;
    chunk->bound_squared[i] = bound * bound;
    chunk->variance[i] = bound * bound * (1.0 / 3.0);
  }
}
OPWRIGHT_VECTORISED(void, elementwise_bounds,
                    (Chunk * chunk, double ulps, double floor_unit, double relative, double tiny),
                    (chunk, ulps, floor_unit, relative, tiny))

[[gnu::always_inline]] inline void exact_bounds_loop(Chunk* chunk, double units, double tiny) {
  constexpr double kToWhole = 0x1.8p52;  // added and taken away again, it leaves the nearest whole number
  const double* __restrict exact = chunk->exact;
  for (std::size_t i = 0; i < chunk->n; ++i) {
    const double steps = exact[i] * inverse_power(chunk->unit[i]);
    const double whole = (steps + kToWhole) - kToWhole;
    const double bound = where(steps != whole, units * chunk->unit[i]);
    const double flushed = where(std::abs(exact[i]) < kSmallestNormal, tiny);
    const double wider = bound > flushed ? bound : flushed;
    chunk->bound_squared[i] = wider * wider;
    chunk->variance[i] = chunk->unit[i] * chunk->unit[i] * (1.0 / 12.0);
  }
}
OPWRIGHT_VECTORISED(void, exact_bounds, (Chunk * chunk, double units, double tiny), (chunk, units, tiny))

// ulp = 2^exponent x this. Integers, which are exact or wrong, have bfloat16's.
double unit_factor(DType dtype) {
  const int significand = info(dtype).significand;
  return std::ldexp(1.0, 1 - (significand > 0 ? significand : info(DType::kBfloat16).significand));
}

double worst_growth(double unit_roundoff, double roundings) {
  return std::min(std::expm1(roundings * std::log1p(unit_roundoff)), 1e30);
}

}  // namespace

double largest_of(DType dtype) {
  if (is_integer(dtype)) return std::numeric_limits<double>::infinity();
  return dtype == DType::kFloat32 ? static_cast<double>(std::numeric_limits<float>::max()) : 0x1.FEp127;
}

BoundModel::BoundModel(const ErrorBudget& budget, DType dtype, std::int64_t elements)
    : budget_kind_(budget.kind),
      dtype_(dtype),
      ulps_(std::max(budget.ulps, 0.0)),
      after_(budget.after),
      unit_factor_(unit_factor(dtype)),
      floor_unit_(0.0),
      relative_(std::max(budget.relative, 0.0)),
      tiny_(is_integer(dtype) ? 0.0 : kSmallestNormal),
      inexact_units_(is_block_float(dtype) ? 1.0 : 0.5) {
  if (is_integer(dtype)) {
    inexact_units_ = 1.0;
  } else if (budget.floor >= kSmallestNormal && std::isfinite(budget.floor)) {
    floor_unit_ = power_below(budget.floor) * unit_factor_;
  }
  if (budget.after.floor >= kSmallestNormal) after_floor_unit_ = power_below(budget.after.floor) * unit_factor_;
  if (!contraction()) return;
  const double terms = static_cast<double>(std::max<std::int64_t>(budget.terms, 1));
  const double group = static_cast<double>(std::max<std::int64_t>(budget.group, 1));
  const double block = budget.block > 0 ? std::min(static_cast<double>(budget.block), terms) : terms;
  const double blocks = std::ceil(terms / block);
  // Every phase of a fidelity rounds, however few terms there are.
  const double inner = std::max(std::ceil(block / group), std::floor(kMergedTerms / group));
  const double outer = blocks > 1 ? blocks : 0;
  const double roundoff = std::ldexp(1.0, -std::clamp(budget.accumulator_bits, 1, 53));
  const double rounding = 0.18 * roundoff * roundoff;
  const double q = 2.5 / terms;  // of magnitude^2
  const double dropped = relative_ * relative_;
  const double factor = std::max(budget.common, 0.0);  // shared by all results
  worst_case_ = worst_growth(roundoff, inner + outer) + relative_ + factor;
  const double growth = kGrowth * roundoff * (block / kMergedTerms + 2 * outer);
  from_exact_ = rounding * (inner / blocks + outer) / 3 + 0.36 * 0.36 * dropped + growth * growth + factor * factor;
  from_magnitude_ =
      (rounding * (inner * (1 - 1 / blocks) / 3 + (inner + outer) / 6) + 0.21 * 0.21 * dropped + growth * growth / 3) *
      q;
  // Partial sums of a pass are as large as their number lets them be: together the whole, or the root of q.
  if (budget.passes > 1) {
    const double passes = static_cast<double>(budget.passes - 1);
    const double width = unit_factor_ / 2 * (is_block_float(dtype) ? 2 : 1);
    worst_case_ += passes * width;
    from_exact_ += 0.18 * width * width * passes / 2;
    from_magnitude_ += 0.18 * width * width * passes * q;
  }
  const double n = static_cast<double>(std::max<std::int64_t>(elements, 1));
  deviations_ = std::max(8.0, 2 * (std::sqrt(2 * std::log(n)) + 1));
  const double drift = 0.22 * roundoff * std::sqrt(inner + outer);
  shrinking_ = 0.5 * relative_ + drift + factor;
  growing_ = 0.15 * relative_ + std::max(drift, 2.5 * growth) + factor;
}

void BoundModel::fill_units(Chunk& chunk) const {
  if (is_integer(dtype_)) {
    std::fill(chunk.unit, chunk.unit + chunk.n, 1.0);
  } else if (is_block_float(dtype_)) {
    group_units(&chunk, unit_factor_);
  } else {
    element_units(&chunk, unit_factor_);
  }
}

void BoundModel::fill_before(Chunk& chunk) const {
  // As if the operator ended before the function.
  const double* result = chunk.exact;
  const double* actual = chunk.actual;
  chunk.exact = chunk.actual = chunk.before;
  fill(chunk);
  chunk.exact = result;
  chunk.actual = actual;
}

void BoundModel::fill(Chunk& chunk) const {
  fill_units(chunk);
  switch (budget_kind_) {
    case ErrorBudget::Kind::kExact:
    case ErrorBudget::Kind::kSelection:
      exact_bounds(&chunk, inexact_units_, tiny_);
      return;
    case ErrorBudget::Kind::kElementwise:
      elementwise_bounds(&chunk, ulps_, floor_unit_, relative_, tiny_);
      return;
    case ErrorBudget::Kind::kContraction:
      contraction_bounds(&chunk, {worst_case_, from_exact_, from_magnitude_, ulps_ * ulps_ / 12, ulps_, floor_unit_,
                                  deviations_ * deviations_, tiny_});
      return;
  }
}

}  // namespace opwright
