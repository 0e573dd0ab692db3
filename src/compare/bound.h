// How far each element may be from the exact one, from the data, the output format and the error budget.
//
// Contractions. R = roundings of the accumulator = terms / group, u = 2^-bits. No kernel may be further than the worst
// case, (1+u)^R - 1 + relative times the magnitude M = sum |a||b|. That is far too wide to notice anything: what
// kernels show is the sum of R independent roundings. Partial sums grow as a random walk that ends at the exact value
// y: their mean square at step t of 0..1 is t^2 y^2 + t(1-t) q, with q = sum (ab)^2, about 2.5 M^2 / terms (exact for
// normal data). A rounding of a value v has the mean square 0.18 u^2 v^2 (averaged over a binade), so that
//   variance = 0.18 u^2 R (y^2/3 + q/6)                accumulator
//            + (0.36 relative y)^2 + 0.21^2 relative^2 q   bits that the engine drops of operands: a bias and a noise
//            + g^2 (y^2 + q/3)                         ties away from zero: g = 0.07 u (terms / 16) in all
//            + (ulps x ulp)^2 / 12                     output format
//            + 0.18 w^2 (passes - 1) (y^2 / 2 + q)     partial sums in memory between passes, w = 2^-bits of the output
//            + (common y)^2                            a constant that all results are multiplied with, as it is
//            rounded
// Where partial sums of a block go to an outer accumulator (B blocks), each block is such a walk to its own part of y,
// and the outer one rounds B times more.
// The bound is the smaller of the worst case and of a multiple of the standard deviation that grows with the number of
// elements, so that it holds for the largest of them. On the real kernels' matmul outputs (86 cases) the rms of error /
// deviation is 0.2 to 1.5 and the largest 6.5.
//
// Elementwise: ulps x ulp(max(|exact|, floor)) + relative x magnitude.
// Where a function f is fused, all of the above is the bound b and the deviation s of what f is given, y. The bound of
// the result is how far f leads within [y - b, y + b] (its ends and points between, because f may turn), its variance
// what y - s and y + s make of it, and to both comes the error of f itself (`ErrorBudget::after`). Factors and leaning
// columns are looked for in y, through the slope of f: where f is flat, an error of y does not show and has no weight.
// Exact and selection: 0 where the format holds the exact value; else half an ulp, whatever ties do, and for block
// floats one ulp, because the two encoders round differently (host: nearest even; packer: two roundings, truncation for
// bfloat4_b).
// The ulp of a block float is that of its group of 16 along the row: of the largest expected or actual magnitude, the
// actual at most doubling it, so that a wrong large value cannot widen its neighbours' bound.
// All float formats: values below the smallest normal number may become 0.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/each_of.h"
#include "model/error_budget.h"
#include "model/tensor_spec.h"

namespace opwright {

// All that is known of so many elements stays in the first cache.
inline constexpr std::size_t kChunk = 512;

// A piece of the output: whole rows, or a part of one row that starts at a multiple of 16.
struct Chunk {
  std::size_t n = 0;
  std::size_t row_length = 0;     // elements of a row within the chunk
  const double* exact = nullptr;  // the caller's, or `own_exact`
  const double* actual = nullptr;
  const double* magnitude = nullptr;
  const double* before = nullptr;  // where a function is fused (`carried`): what it was given
  // Where the actual values of the next chunk are, about, and the bytes of one: they are fetched ahead.
  const char* upcoming = nullptr;
  std::size_t upcoming_bytes = 0;
  alignas(64) double own_exact[kChunk];
  alignas(64) double own_actual[kChunk];
  alignas(64) double own_magnitude[kChunk];
  alignas(64) double own_before[kChunk];
  alignas(64) double unit[kChunk];           // ulp of the output format
  alignas(64) double bound_squared[kChunk];  // squares, because roots stand in the way of wide registers
  alignas(64) double variance[kChunk];       // contractions: of the error; else bound^2 / 3
  alignas(64) double weight[kChunk];         // contractions: 1 / variance, filled while measuring
  bool carried = false;                      // a function is fused: `before` and `slope` are filled
  alignas(64) double slope[kChunk];          // of the function there
  alignas(64) double shown[kChunk];          // slope / variance, filled while measuring
  // Where elements were taken out of the first `places`, the place that each had; else they stand where they stood.
  bool compacted = false;
  std::size_t places = 0;
  std::uint32_t place[kChunk];

  std::size_t place_of(std::size_t i) const { return compacted ? place[i] : i; }
};

class BoundModel {
 public:
  // `elements`: of all that is judged.
  BoundModel(const ErrorBudget& budget, DType dtype, std::int64_t elements);

  // unit, bound_squared and variance of finite elements, from exact, actual and magnitude.
  void fill(Chunk& chunk) const;
  // bound_squared and variance of what a fused function is given (`before`).
  void fill_before(Chunk& chunk) const;
  // The same through a fused function, from `before` too. Fills the slopes. A bound is only as wide as it must be to
  // show that the element is within it and its (error / bound)^2 at most `worst_so_far` (negative: none was seen yet);
  // those of all other elements are whole.
  void fill_through(Chunk& chunk, const EachOf& function, const EachOf& slack, double worst_so_far) const;
  bool contraction() const { return budget_kind_ == ErrorBudget::Kind::kContraction; }
  bool exact() const {
    return budget_kind_ == ErrorBudget::Kind::kExact || budget_kind_ == ErrorBudget::Kind::kSelection;
  }
  // How far a common factor may be below and above 1 without any mistake: dropped operand bits shrink values, ties that
  // round away from zero let sums grow. Twice what the real kernels show, about.
  double shrinking_allowance() const { return shrinking_; }
  double growing_allowance() const { return growing_; }
  double ulps() const { return ulps_; }

 private:
  void fill_units(Chunk& chunk) const;

  ErrorBudget::Kind budget_kind_;
  DType dtype_;
  double ulps_;
  ErrorBudget::After after_;
  double unit_factor_;  // unit = 2^exponent x this
  double floor_unit_;
  double after_floor_unit_ = 0.0;
  double relative_;
  double tiny_;
  double inexact_units_;
  double worst_case_ = 0.0;      // x magnitude
  double from_exact_ = 0.0;      // variance / exact^2
  double from_magnitude_ = 0.0;  // variance / magnitude^2
  double deviations_ = 0.0;
  double shrinking_ = 0.0;
  double growing_ = 0.0;
};

// The largest finite number of a format; infinity for integers.
double largest_of(DType dtype);

}  // namespace opwright
