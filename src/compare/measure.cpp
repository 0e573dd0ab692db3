#include "compare/measure.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace opwright {
namespace {

double bucket_value(std::uint64_t bucket) {
  if (bucket == 0) return 0.0;
  return std::bit_cast<double>((kFirstBucket + bucket) << 47) * (1 + 1.0 / 64);
}

// Rows with fewer elements say nothing as a whole.
constexpr std::int64_t kElementsOfRow = 32;
constexpr double kElementsOfSize = 12;
constexpr double kChance = 6;
// Of an ulp: by how much roundings that all go to one side at ties move a mean.
constexpr double kTies = 0.25;

void look_at(Measure::Sameness& side, const double* values, std::size_t n) {
  for (std::size_t i = 0; side.constant && i < n; ++i) side.constant = values[i] == side.value;
}

}  // namespace

Measure::Measure(double shift, bool weighted, std::int64_t columns, std::int64_t rows)
    : shift_(shift),
      weighted_(weighted),
      rows_(rows),
      histogram_(kBuckets * kHistograms),
      column_z_(static_cast<std::size_t>(columns)),
      column_e_(static_cast<std::size_t>(columns)),
      column_ee_(static_cast<std::size_t>(columns)),
      column_weight_(static_cast<std::size_t>(columns)),
      column_missing_(static_cast<std::size_t>(columns)) {}

void Measure::add(Chunk& chunk, std::size_t first_column, const std::int64_t* row_starts) {
  if (!column_z_.empty()) add_missing(chunk, first_column);
  if (chunk.n == 0) return;
  if (count_ == 0) {
    exact_.value = chunk.exact[0];
    actual_.value = chunk.actual[0];
  }
  look_at(exact_, chunk.exact, chunk.n);
  look_at(actual_, chunk.actual, chunk.n);
  std::uint32_t places[kChunk];
  const Found found = add_chunk(chunk, weighted_, shift_, sums_, places);
  if (found.off) {
    for (std::size_t i = 0; i < chunk.n; ++i) ++histogram_[places[i]];
  } else {
    histogram_[0] += chunk.n;
  }
  if (found.larger_rel) sums_.max_rel = std::max(sums_.max_rel, largest_relative(chunk));
  if (found.larger_ratio || worst_.index < 0) find_worst(chunk, row_starts);
  if (!column_z_.empty()) add_columns(chunk, first_column);
  if (row_allowance_ >= 0.0) add_rows(chunk, first_column, row_starts);
  count_ += static_cast<std::int64_t>(chunk.n);
}

void Measure::watch_rows(double allowance, double only_shrinking, std::int64_t length) {
  if (length < kElementsOfRow) return;
  row_allowance_ = allowance;
  only_shrinking_ = only_shrinking;
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

// Of the columns of elements that were taken out.
void Measure::add_missing(const Chunk& chunk, std::size_t first_column) {
  if (!chunk.compacted) return;
  std::size_t kept = 0;
  for (std::size_t place = 0; place < chunk.places; ++place) {
    if (kept < chunk.n && chunk.place[kept] == place) {
      ++kept;
    } else {
      column_missing_[first_column + place % chunk.row_length] += 1;
    }
  }
}

void Measure::add_columns(const Chunk& chunk, std::size_t first_column) {
  const auto add = [&](std::size_t from, std::size_t rows, std::size_t length, std::size_t column) {
    opwright::add_columns(chunk, from, rows, length,
                          {&column_z_[column], &column_e_[column], &column_ee_[column], &column_weight_[column]},
                          &column_missing_[column]);
  };
  if (chunk.compacted) {
    for (std::size_t i = 0; i < chunk.n; ++i) add(i, 1, 1, first_column + chunk.place[i] % chunk.row_length);
  } else {
    add(0, chunk.n / chunk.row_length, chunk.row_length, first_column);
  }
}

void Measure::add_rows(const Chunk& chunk, std::size_t first_column, const std::int64_t* row_starts) {
  const auto add = [&](std::size_t from, std::size_t n) {
    const RowPart part = row_part(chunk, from, n);
    row_.square += part.square;
    row_.ed += part.ed;
    row_.ee += part.ee;
    row_.d += part.d;
    row_.dd += part.dd;
    row_.eedd += part.eedd;
    row_.eeed += part.eeed;
    row_.eeee += part.eeee;
    row_.unit += part.unit;
    row_.n += static_cast<double>(n);
  };
  std::size_t from = 0;
  while (from < chunk.n) {
    const std::size_t row = chunk.place_of(from) / chunk.row_length;
    std::size_t end = from + chunk.row_length;
    if (chunk.compacted)
      for (end = from + 1; end < chunk.n && chunk.place[end] / chunk.row_length == row;) ++end;
    end = std::min(end, chunk.n);
    const std::int64_t first = row_starts[row] - static_cast<std::int64_t>(first_column);
    if (first != row_.first) {
      end_row();
      row_.first = first;
    }
    add(from, end - from);
    from = end;
  }
}

void Measure::end_row() {
  const RowSums row = row_;
  row_ = {};
  if (row.first < 0 || row.n < static_cast<double>(kElementsOfRow) || !(row.ee > 0.0)) return;
  const double rms = std::sqrt(row.square / row.n);
  const double rounding = kTies * row.unit / row.n / rms;
  const auto look = [&](bool shifted, double by, double chance) {
    const double grown = !shifted && by > 0 ? only_shrinking_ : 0.0;
    const double accepted = row_allowance_ - grown + rounding + kChance * chance;
    by = std::abs(by);
    if (by <= accepted || (odd_.first >= 0 && by * odd_.accepted <= odd_.by * accepted)) return;
    odd_ = {row.first, shifted, by, accepted};
  };
  // Chance is what is left of the row's own errors when the factor, or the offset, is taken away.
  const double factor = row.ed / row.ee;
  const double beside = row.eedd - 2 * factor * row.eeed + factor * factor * row.eeee;
  // A few elements make up what is known of a row: their errors are theirs, and no factor of the row.
  if (row.ee * row.ee >= kElementsOfSize * row.eeee) look(false, factor, std::sqrt(std::max(beside, 0.0)) / row.ee);
  const double offset = row.d / row.n;
  look(true, offset / rms, std::sqrt(std::max(row.dd - row.n * offset * offset, 0.0)) / row.n / rms);
}

const Measure::OddRow& Measure::odd_row() {
  end_row();
  return odd_;
}

double Measure::exact_square() const {
  const double n = static_cast<double>(std::max<std::int64_t>(count_, 1));
  return std::max(0.0, (sums_.ee + 2 * shift_ * sums_.e) / n + shift_ * shift_);
}

double Measure::coherence() const {
  const double n = static_cast<double>(std::max<std::int64_t>(count_, 1));
  if (sums_.before_squared > 0.0) return std::clamp(sums_.before / n * sums_.before / sums_.before_squared, 0.0, 1.0);
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
    const double rows = static_cast<double>(rows_) - column_missing_[j];
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
  for (std::uint64_t bucket = 0; bucket < kBuckets; ++bucket) {
    for (std::uint64_t i = 0; i < kHistograms; ++i) below += histogram_[bucket * kHistograms + i];
    if (rank >= below) continue;
    m.ulp_p99 = std::min(bucket_value(bucket), m.ulp_max);
    break;
  }
  return m;
}

}  // namespace opwright
