#include "compare/measure.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/vectorised.h"

namespace opwright {
namespace {

// __builtin_bit_cast instead of the function: passing such vectors to functions depends on the build's target.
struct Four {
  static constexpr std::size_t kWide = 4;
  using Double = double __attribute__((vector_size(32)));
  using Long = std::int64_t __attribute__((vector_size(32)));
  using Short = std::uint32_t __attribute__((vector_size(16)));
};
struct One {  // for what is left over
  static constexpr std::size_t kWide = 1;
  using Double = double __attribute__((vector_size(8)));
  using Long = std::int64_t __attribute__((vector_size(8)));
  using Short = std::uint32_t __attribute__((vector_size(4)));
};

// Where the bound is 0 an error is set against a millionth of an ulp, so that it has a finite ratio.
constexpr double kLeastBound = 1e-6;
// A quotient that is larger by a rounding error is no news: equal ones come in every chunk.
constexpr double kClearly = 1 + 0x1p-50;

// Buckets of ULP errors: 32 an octave, from 2^-10 to 2^50.
constexpr std::int64_t kFirstBucket = (1023 - 10) << 5;
constexpr std::int64_t kBuckets = 60 << 5;
// Neighbours count in different histograms: most fall into one bucket, and would wait for each other.
constexpr std::int64_t kHistograms = 4;
double bucket_value(std::int64_t bucket) {
  if (bucket == 0) return 0.0;
  return std::bit_cast<double>(static_cast<std::uint64_t>(kFirstBucket + bucket) << 47) * (1 + 1.0 / 64);
}

// What a chunk leaves besides its sums.
struct Found {
  bool larger_rel = false;    // an element may be further off than any before, relative to its value
  bool larger_ratio = false;  // or to its bound
};

// Elements `from` to `to`, a multiple of the lanes apart. Dividing is the dearest thing here: the largest quotients are
// looked for by multiplying, and worked out in the few chunks that have one.
template <class V, bool kWeighted>
[[gnu::always_inline]] inline void add_elements(Chunk* chunk, std::size_t from, std::size_t to, double shift,
                                                Sums* sums, std::uint32_t* buckets, Found* found) {
  using Double = typename V::Double;
  using Long = typename V::Long;
  Double e_sum{}, a_sum{}, ee{}, aa{}, ea{}, squared{}, ulp{}, rounding{}, variance{}, z_squared{}, weighted_ee{};
  Double weighted_ed{}, weighted_unit{}, max_abs{}, max_ulp{};
  Long within{}, near{}, exact{}, larger_rel{}, larger_ratio{};
  const double rel_so_far = sums->max_rel * kClearly;
  const double ratio_so_far = sums->max_ratio * kClearly;
  constexpr double kToWhole = 0x1.8p52;
  for (std::size_t i = from; i < to; i += V::kWide) {
    Double e, a, unit, bound, var;
    std::memcpy(&e, chunk->exact + i, sizeof e);
    std::memcpy(&a, chunk->actual + i, sizeof a);
    std::memcpy(&unit, chunk->unit + i, sizeof unit);
    std::memcpy(&bound, chunk->bound_squared + i, sizeof bound);
    std::memcpy(&var, chunk->variance + i, sizeof var);
    const Double d = a - e;
    const Double error = __builtin_bit_cast(Double, __builtin_bit_cast(Long, d) & 0x7FFFFFFFFFFFFFFF);
    const Double e_size = __builtin_bit_cast(Double, __builtin_bit_cast(Long, e) & 0x7FFFFFFFFFFFFFFF);
    const Double e_off = e - shift;
    const Double a_off = a - shift;
    e_sum += e_off;
    a_sum += a_off;
    ee += e_off * e_off;
    aa += a_off * a_off;
    ea += e_off * a_off;
    squared += d * d;
    // Units are powers of two: their inverse is a matter of the exponent.
    const Double inverse_unit = __builtin_bit_cast(Double, (std::int64_t{2046} << 52) - __builtin_bit_cast(Long, unit));
    const Double steps = error * inverse_unit;
    ulp += steps;
    rounding += unit * unit;
    variance += var;
    if constexpr (kWeighted) {
      const Double weight = 1.0 / var;
      std::memcpy(chunk->weight + i, &weight, sizeof weight);
      z_squared += d * d * weight;
      weighted_ee += e * e * weight;
      weighted_ed += e * d * weight;
      weighted_unit += e_size * unit * weight;
    }
    // An exact value that the format holds must be met; any other may go to either neighbour at a tie.
    const Double scaled = e * inverse_unit;
    const Double off_grid = scaled - ((scaled + kToWhole) - kToWhole);
    exact -= (steps <= 0.5) & ((off_grid != 0.0) | (error == 0.0));
    within -= d * d <= bound;
    near -= d * d <= bound * 4.0;
    const Double least = unit * unit * (kLeastBound * kLeastBound);
    larger_ratio |= d * d > ratio_so_far * (bound > least ? bound : least);
    larger_rel |= (error > rel_so_far * e_size) & (e_size > 0.0);
    max_abs = error > max_abs ? error : max_abs;
    max_ulp = steps > max_ulp ? steps : max_ulp;
    Long bucket = (__builtin_bit_cast(Long, steps) >> 47) - kFirstBucket;
    bucket = bucket > 0 ? bucket : Long{};
    bucket = bucket < kBuckets - 1 ? bucket : Long{} + (kBuckets - 1);
    const auto narrow = __builtin_convertvector(bucket, typename V::Short);
    std::memcpy(buckets + i, &narrow, sizeof narrow);
  }
  for (std::size_t l = 0; l < V::kWide; ++l) {
    sums->e += e_sum[l];
    sums->a += a_sum[l];
    sums->ee += ee[l];
    sums->aa += aa[l];
    sums->ea += ea[l];
    sums->squared_error += squared[l];
    sums->ulp += ulp[l];
    sums->rounding += rounding[l] / 12;
    sums->variance += variance[l];
    sums->z_squared += z_squared[l];
    sums->weighted_ee += weighted_ee[l];
    sums->weighted_ed += weighted_ed[l];
    sums->weighted_unit += weighted_unit[l];
    sums->within += within[l];
    sums->near += near[l];
    sums->exact += exact[l];
    sums->max_abs = std::max(sums->max_abs, double{max_abs[l]});
    sums->max_ulp = std::max(sums->max_ulp, double{max_ulp[l]});
    found->larger_rel |= larger_rel[l] != 0;
    found->larger_ratio |= larger_ratio[l] != 0;
  }
}

[[gnu::always_inline]] inline Found add_chunk_loop(Chunk* chunk, bool weighted, double shift, Sums* sums,
                                                   std::uint32_t* buckets) {
  const std::size_t whole = chunk->n / 4 * 4;
  Found found;
  if (weighted) {
    add_elements<Four, true>(chunk, 0, whole, shift, sums, buckets, &found);
    add_elements<One, true>(chunk, whole, chunk->n, shift, sums, buckets, &found);
  } else {
    add_elements<Four, false>(chunk, 0, whole, shift, sums, buckets, &found);
    add_elements<One, false>(chunk, whole, chunk->n, shift, sums, buckets, &found);
  }
  return found;
}
OPWRIGHT_VECTORISED(Found, add_chunk, (Chunk * chunk, bool weighted, double shift, Sums* sums, std::uint32_t* buckets),
                    (chunk, weighted, shift, sums, buckets))

[[gnu::always_inline]] inline double largest_relative_loop(const Chunk* chunk) {
  double largest = 0.0;
  for (std::size_t i = 0; i < chunk->n; ++i) {
    const double size = std::abs(chunk->exact[i]);
    const double relative = size > 0.0 ? std::abs(chunk->actual[i] - chunk->exact[i]) / size : 0.0;
    largest = relative > largest ? relative : largest;
  }
  return largest;
}
OPWRIGHT_VECTORISED(double, largest_relative, (const Chunk* chunk), (chunk))

struct ColumnSums {
  double* __restrict z;
  double* __restrict e;
  double* __restrict ee;
  double* __restrict weight;
  double* __restrict rows;
};

[[gnu::always_inline]] inline void add_row_loop(const double* exact, const double* actual, const double* weights,
                                                std::size_t n, ColumnSums to) {
  for (std::size_t i = 0; i < n; ++i) {
    const double weight = weights[i];
    const double e = exact[i] * weight;
    to.z[i] += (actual[i] - exact[i]) * weight;
    to.e[i] += e;
    to.ee[i] += e * exact[i];
    to.weight[i] += weight;
    to.rows[i] += 1;
  }
}
OPWRIGHT_VECTORISED(void, add_row,
                    (const double* exact, const double* actual, const double* weights, std::size_t n, ColumnSums to),
                    (exact, actual, weights, n, to))

void look_at(Measure::Sameness& side, const double* values, std::size_t n) {
  for (std::size_t i = 0; side.constant && i < n; ++i) side.constant = values[i] == side.value;
}

}  // namespace

Measure::Measure(double shift, bool weighted, std::int64_t columns)
    : shift_(shift),
      weighted_(weighted),
      histogram_(static_cast<std::size_t>(kBuckets * kHistograms)),
      column_z_(static_cast<std::size_t>(columns)),
      column_e_(static_cast<std::size_t>(columns)),
      column_ee_(static_cast<std::size_t>(columns)),
      column_weight_(static_cast<std::size_t>(columns)),
      column_rows_(static_cast<std::size_t>(columns)) {}

void Measure::add(Chunk& chunk, std::size_t first_column, const std::int64_t* row_starts) {
  if (chunk.n == 0) return;
  if (count_ == 0) {
    exact_.value = chunk.exact[0];
    actual_.value = chunk.actual[0];
  }
  look_at(exact_, chunk.exact, chunk.n);
  look_at(actual_, chunk.actual, chunk.n);
  std::uint32_t buckets[kChunk];
  const Found found = add_chunk(&chunk, weighted_, shift_, &sums_, buckets);
  for (std::size_t i = 0; i < chunk.n; ++i) ++histogram_[buckets[i] * kHistograms + i % kHistograms];
  if (found.larger_rel) sums_.max_rel = std::max(sums_.max_rel, largest_relative(&chunk));
  if (found.larger_ratio || worst_.index < 0) find_worst(chunk, row_starts);
  if (!column_z_.empty()) add_columns(chunk, first_column);
  count_ += static_cast<std::int64_t>(chunk.n);
}

void Measure::find_worst(const Chunk& chunk, const std::int64_t* row_starts) {
  double worst = worst_.index < 0 ? -1.0 : sums_.max_ratio;
  for (std::size_t i = 0; i < chunk.n; ++i) {
    const double error = chunk.actual[i] - chunk.exact[i];
    const double least = chunk.unit[i] * kLeastBound;
    const double ratio = error * error / std::max(chunk.bound_squared[i], least * least);
    if (ratio <= worst) continue;
    sums_.max_ratio = worst = ratio;
    const std::size_t place = chunk.place_of(i);
    worst_.index = row_starts[place / chunk.row_length] + static_cast<std::int64_t>(place % chunk.row_length);
    worst_.expected = chunk.exact[i];
    worst_.actual = chunk.actual[i];
    worst_.bound = std::sqrt(chunk.bound_squared[i]);
  }
}

void Measure::add_columns(const Chunk& chunk, std::size_t first_column) {
  const auto sums_at = [&](std::size_t column) {
    return ColumnSums{&column_z_[column], &column_e_[column], &column_ee_[column], &column_weight_[column],
                      &column_rows_[column]};
  };
  if (!chunk.compacted) {
    for (std::size_t i = 0; i < chunk.n; i += chunk.row_length) {
      add_row(chunk.exact + i, chunk.actual + i, chunk.weight + i, chunk.row_length, sums_at(first_column));
    }
    return;
  }
  for (std::size_t i = 0; i < chunk.n; ++i) {
    const std::size_t column = first_column + chunk.place[i] % chunk.row_length;
    add_row(chunk.exact + i, chunk.actual + i, chunk.weight + i, 1, sums_at(column));
  }
}

double Measure::exact_square() const {
  const double n = static_cast<double>(std::max<std::int64_t>(count_, 1));
  return std::max(0.0, (sums_.ee + 2 * shift_ * sums_.e) / n + shift_ * shift_);
}

double Measure::coherence() const {
  const double n = static_cast<double>(std::max<std::int64_t>(count_, 1));
  const double mean = sums_.e / n + shift_;
  const double square = exact_square();
  return square > 0.0 ? std::clamp(mean * mean / square, 0.0, 1.0) : 1.0;
}

Measure::Leaning Measure::most_leaning_column(double scale_allowance) const {
  Leaning most;
  // The adder rounds halves of a group's sum upwards, whatever its sign: all columns lean a little, and alike.
  constexpr double kCommon = 0.3;
  // … and each a little in its own way, which only tens of thousands of rows show. A bias that is missing or added
  // twice leans by many times the error of an element.
  constexpr double kOwn = 0.15;
  double z = 0.0;
  double all = 0.0;
  for (std::size_t j = 0; j < column_z_.size(); ++j) {
    z += column_z_[j];
    all += column_weight_[j];
  }
  const double common = all > 0.0 ? std::clamp(z / all, -kCommon, kCommon) : 0.0;
  for (std::size_t j = 0; j < column_z_.size(); ++j) {
    const double rows = column_rows_[j];
    const double weight = column_weight_[j];
    if (rows < 2 || !(weight > 0.0)) continue;
    const double coherent = column_ee_[j] > 0.0 ? column_e_[j] * column_e_[j] / (weight * column_ee_[j]) : 0.0;
    // Errors of a column that share their partial sums are one draw, not many.
    const double deviation = std::sqrt(weight * (1 + coherent * rows));
    const double explained = scale_allowance * std::abs(column_e_[j]);
    const double leaning = (std::abs(column_z_[j] - common * weight) - explained - kOwn * weight) / deviation;
    if (leaning > most.deviations) most = {static_cast<std::int64_t>(j), leaning};
  }
  return most;
}

Metrics Measure::metrics() const {
  Metrics m;
  m.compared = count_;
  m.pcc = std::numeric_limits<double>::quiet_NaN();
  if (count_ == 0) return m;
  const double n = static_cast<double>(count_);
  const double e_spread = std::max(0.0, sums_.ee - sums_.e * sums_.e / n);
  const double a_spread = std::max(0.0, sums_.aa - sums_.a * sums_.a / n);
  if (!exact_.constant && !actual_.constant && e_spread > 0.0 && a_spread > 0.0) {
    m.pcc = (sums_.ea - sums_.e * sums_.a / n) / (std::sqrt(e_spread) * std::sqrt(a_spread));
    m.pcc = std::clamp(m.pcc, -1.0, 1.0);
  }
  m.spread = exact_.constant ? 0.0 : std::sqrt(e_spread / n);
  m.noise = std::sqrt(sums_.variance / n);
  m.pcc_ideal = m.spread > 0.0 ? 1 / std::sqrt(1 + sums_.rounding / n / (m.spread * m.spread)) : 0.0;
  const double rms = std::sqrt(sums_.squared_error / n);
  const double exact_rms = std::sqrt(exact_square());
  m.nrmse = rms == 0.0 ? 0.0 : rms / m.spread;
  m.rel_rms = rms == 0.0 ? 0.0 : rms / exact_rms;
  m.max_abs = sums_.max_abs;
  m.max_rel = sums_.max_rel;
  m.ulp_max = sums_.max_ulp;
  m.ulp_mean = sums_.ulp / n;
  m.exact_share = static_cast<double>(sums_.exact) / n;
  m.within_share = static_cast<double>(sums_.within) / n;
  m.worst = worst_;
  const auto rank = static_cast<std::uint64_t>(0.99 * (n - 1));
  std::uint64_t below = 0;
  for (std::int64_t bucket = 0; bucket < kBuckets; ++bucket) {
    for (std::int64_t i = 0; i < kHistograms; ++i)
      below += histogram_[static_cast<std::size_t>(bucket * kHistograms + i)];
    if (rank >= below) continue;
    m.ulp_p99 = std::min(bucket_value(bucket), m.ulp_max);
    break;
  }
  return m;
}

}  // namespace opwright
