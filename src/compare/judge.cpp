#include "compare/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compare/bound.h"
#include "compare/chunk_values.h"
#include "compare/function_end.h"
#include "compare/measure.h"

namespace opwright {
namespace {

constexpr std::int64_t kGroup = 16;
constexpr std::int64_t kColumnsWatched = 1 << 20;
constexpr std::int64_t kRowsForColumns = 8;
constexpr std::int64_t kElementsForFactor = 256;
constexpr double kSmallestNormal = 0x1p-126;

std::string shape_list(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", shape[i]);
  return text + "]";
}

// Elements of a shape; -1 where that is no number of elements.
std::int64_t elements_of(const Shape& shape) {
  std::int64_t product = 1;
  for (const std::int64_t n : shape) {
    if (n < 0 || __builtin_mul_overflow(product, n, &product)) return -1;
  }
  return product;
}

class Judgement {
 public:
  Judgement(const Judged& judged, const JudgeOptions& options)
      : judged_(judged),
        options_(options),
        dtype_(judged.wanted.dtype.value),
        elements_(elements_of(judged.wanted.shape)),
        length_(elements_ > 0 ? row_length(judged.wanted.shape) : 0),
        total_rows_(length_ > 0 ? elements_ / length_ : 0),
        rows_(judged.rows.empty() ? total_rows_ : std::min(total_rows_, static_cast<std::int64_t>(judged.rows.size()))),
        model_(judged.budget, dtype_, rows_ * length_) {
    verdict_.distribution = options.distribution;
    verdict_.seed = options.seed;
    verdict_.budget = judged.budget.why;
    verdict_.rows = rows_;
    verdict_.total_rows = total_rows_;
    verdict_.shape = judged.wanted.shape;
    verdict_.pcc_threshold = options.pcc.value_or(judged.budget.pcc);
    verdict_.judged_by = model_.exact() ? JudgedBy::kExact : JudgedBy::kBound;
  }

  Verdict decide() {
    if (!promised()) return std::move(verdict_);
    if (!given()) return mistrusted();
    measure();
    verdict_.metrics = measured_->metrics();
    if (rows_ < total_rows_)
      verdict_.notes.push_back(fmt::format("{}: {} of {} rows", kJudgedInPart, rows_, total_rows_));
    check_nonfinite();
    check_bound();
    check_choices();
    if (model_.contraction()) check_accumulation();
    if (!model_.contraction() && !model_.exact()) check_common_factor();
    if (watches_rows()) check_rows();
    if (!model_.exact()) check_pcc();
    if (!verdict_.reasons.empty()) return std::move(verdict_);
    check_spread();
    if (!verdict_.reasons.empty()) return mistrusted();
    verdict_.outcome = Outcome::kPassed;
    return std::move(verdict_);
  }

 private:
  Verdict mistrusted() {
    verdict_.outcome = Outcome::kMistrusted;
    return std::move(verdict_);
  }
  void reason(std::string text) { verdict_.reasons.push_back(std::move(text)); }

  // Shape and dtype.
  bool promised() {
    const TensorSpec& actual = judged_.actual.spec;
    if (actual.shape != judged_.wanted.shape) {
      reason(fmt::format("shape {} instead of {}", shape_list(actual.shape), shape_list(judged_.wanted.shape)));
    }
    if (actual.dtype.value != dtype_) {
      reason(fmt::format("dtype {} instead of {}", name_of(actual.dtype.value), name_of(dtype_)));
    }
    if (!verdict_.reasons.empty()) return false;
    const auto size =
        static_cast<std::int64_t>(judged_.actual.integer() ? judged_.actual.ints.size() : judged_.actual.floats.size());
    if (size != elements_) {
      reason(fmt::format("{} values for shape {}", size, shape_list(actual.shape)));
      return false;
    }
    return true;
  }

  // What the caller gave: enough to judge by?
  bool given() {
    const auto elements = static_cast<std::size_t>(rows_ * length_);
    if (elements == 0) {
      reason("nothing to compare: the output is empty");
    } else if (judged_.value.size() != elements) {
      reason(fmt::format("the reference gave {} values for {} rows of {}", judged_.value.size(), rows_, length_));
    } else if (!judged_.before.empty() && (judged_.before.size() != elements || !judged_.after)) {
      reason(fmt::format("the reference gave {} arguments of its function for {} values", judged_.before.size(),
                         elements));
    } else if (!judged_.magnitude.empty() && judged_.magnitude.size() != elements) {
      reason(fmt::format("the reference gave {} magnitudes for {} values", judged_.magnitude.size(), elements));
    } else if (std::ranges::any_of(judged_.rows, [&](std::int64_t row) { return row < 0 || row >= total_rows_; }) ||
               std::ranges::adjacent_find(judged_.rows, std::greater_equal{}) != judged_.rows.end()) {
      reason(fmt::format("picked rows are not ascending rows of the {} of the output", total_rows_));
    }
    return verdict_.reasons.empty();
  }

  bool watches_rows() const { return judged_.budget.common >= 0.0 && !model_.exact() && !model_.contraction(); }

  std::int64_t row_at(std::int64_t i) const {
    return judged_.rows.empty() ? i : judged_.rows[static_cast<std::size_t>(i)];
  }

  // A first guess of the mean; and, where a contraction comes without magnitudes, what they are about.
  double first_guess() {
    const bool all = model_.contraction() && judged_.magnitude.empty();
    const std::size_t n = all ? judged_.value.size() : std::min<std::size_t>(judged_.value.size(), 4096);
    const Moments seen = moments(judged_.value.data(), n, largest_of(DType::kFloat32));
    const auto count = static_cast<double>(seen.count);
    // sqrt(sum (ab)^2) is about the spread of the result, and M = sum |ab| is sqrt(terms / 2.5) times that.
    if (all && count > 0) {
      least_magnitude_ =
          std::sqrt(seen.squares / count * static_cast<double>(std::max<std::int64_t>(judged_.budget.terms, 1)) / 2.5);
    }
    return count > 0 ? seen.sum / count : 0.0;
  }

  void measure() {
    const double shift = first_guess();
    const bool columns = model_.contraction() && rows_ >= kRowsForColumns && length_ <= kColumnsWatched;
    measured_ = std::make_unique<Measure>(shift, model_.contraction(), columns ? length_ : 0, rows_);
    if (watches_rows()) measured_->watch_rows(judged_.budget.common, judged_.budget.shrinks, length_);
    auto chunk = std::make_unique<Chunk>();
    const std::int64_t piece = static_cast<std::int64_t>(kChunk) / kGroup * kGroup;
    if (length_ <= piece) {
      const std::int64_t at_once = piece / length_;
      for (std::int64_t row = 0; row < rows_; row += at_once) judge_rows(*chunk, row, std::min(at_once, rows_ - row));
    } else {
      for (std::int64_t row = 0; row < rows_; ++row) {
        for (std::int64_t column = 0; column < length_; column += piece) {
          judge_part(*chunk, row, column, std::min(piece, length_ - column));
        }
      }
    }
  }

  void judge_rows(Chunk& chunk, std::int64_t first, std::int64_t count) {
    starts_.resize(static_cast<std::size_t>(count));
    chunk.n = static_cast<std::size_t>(count * length_);
    chunk.row_length = static_cast<std::size_t>(length_);
    for (std::int64_t i = 0; i < count; ++i) starts_[static_cast<std::size_t>(i)] = row_at(first + i) * length_;
    if (judged_.rows.empty()) {
      take_actual(chunk, 0, starts_.front(), count * length_);
    } else {
      for (std::int64_t i = 0; i < count; ++i)
        take_actual(chunk, static_cast<std::size_t>(i * length_), starts_[static_cast<std::size_t>(i)], length_);
    }
    judge_chunk(chunk, first * length_, 0);
  }

  void judge_part(Chunk& chunk, std::int64_t row, std::int64_t column, std::int64_t count) {
    starts_.assign(1, row_at(row) * length_ + column);
    chunk.n = static_cast<std::size_t>(count);
    chunk.row_length = chunk.n;
    take_actual(chunk, 0, starts_.front(), count);
    judge_chunk(chunk, row * length_ + column, static_cast<std::size_t>(column));
  }

  void take_actual(Chunk& chunk, std::size_t to, std::int64_t from, std::int64_t count) const {
    const auto n = static_cast<std::size_t>(count);
    const auto at = static_cast<std::size_t>(from);
    if (judged_.actual.integer()) {
      widen(judged_.actual.ints.data() + at, n, chunk.own_actual + to);
      chunk.upcoming = reinterpret_cast<const char*>(judged_.actual.ints.data() + at + n);
      chunk.upcoming_bytes = sizeof(std::int64_t);
    } else {
      widen(judged_.actual.floats.data() + at, n, chunk.own_actual + to);
      chunk.upcoming = reinterpret_cast<const char*>(judged_.actual.floats.data() + at + n);
      chunk.upcoming_bytes = sizeof(float);
    }
  }

  void judge_chunk(Chunk& chunk, std::int64_t first, std::size_t first_column) {
    const auto at = static_cast<std::size_t>(first);
    chunk.exact = judged_.value.data() + at;
    chunk.actual = chunk.own_actual;
    if (!judged_.magnitude.empty()) {
      chunk.magnitude = judged_.magnitude.data() + at;
    } else {
      chunk.magnitude = chunk.own_magnitude;
      if (!model_.exact()) sizes(chunk.exact, chunk.n, least_magnitude_, chunk.own_magnitude);
    }
    chunk.carried = !judged_.before.empty();
    if (chunk.carried) chunk.before = judged_.before.data() + at;
    chunk.compacted = false;
    if (judged_.budget.kind == ErrorBudget::Kind::kSelection && judged_.same_choice) accept_choices(chunk);
    if (ordinary(chunk.exact, chunk.actual, chunk.n, largest_of(dtype_))) {
      fill(chunk);
    } else {
      take_out_nonfinite(chunk);
    }
    measured_->add(chunk, first_column, starts_.data());
  }

  void fill(Chunk& chunk) const {
    if (chunk.carried) {
      model_.fill_through(chunk, judged_.after, judged_.slack, measured_->worst_ratio());
    } else {
      model_.fill(chunk);
    }
  }

  std::int64_t index_of(const Chunk& chunk, std::size_t place) const {
    return starts_[place / chunk.row_length] + static_cast<std::int64_t>(place % chunk.row_length);
  }

  // Another choice among equals is as good. Whether one was made twice is asked when all are known (check_choices).
  void accept_choices(Chunk& chunk) {
    for (std::size_t i = 0; i < chunk.n; ++i) {
      if (chunk.actual[i] == chunk.exact[i]) continue;
      const std::int64_t element = index_of(chunk, i);
      if (!judged_.same_choice(element, chunk.exact[i], chunk.actual[i])) continue;
      chunk.own_actual[i] = chunk.exact[i];
      ++verdict_.ties;
      if (judged_.choice_of) made_otherwise_.insert(judged_.choice_of(element));
    }
  }

  // Of choices that were made otherwise: an answer that was given twice, where the exact ones are all different.
  void check_choices() {
    if (made_otherwise_.empty()) return;
    struct Answers {
      std::vector<double> exact;
      std::vector<std::pair<double, std::int64_t>> actual;  // and where
    };
    std::unordered_map<std::int64_t, Answers> choices;
    for (std::int64_t i = 0; i < rows_ * length_; ++i) {
      const std::int64_t element = row_at(i / length_) * length_ + i % length_;
      const std::int64_t choice = judged_.choice_of(element);
      if (!made_otherwise_.contains(choice)) continue;
      choices[choice].exact.push_back(judged_.value[static_cast<std::size_t>(i)]);
      choices[choice].actual.emplace_back(judged_.actual.at(element), element);
    }
    std::int64_t twice = 0;
    std::pair<double, std::int64_t> first{0, std::numeric_limits<std::int64_t>::max()};
    for (auto& [choice, answers] : choices) {
      std::ranges::sort(answers.exact);
      if (std::ranges::adjacent_find(answers.exact) != answers.exact.end()) continue;
      std::ranges::sort(answers.actual);
      for (std::size_t i = 1; i < answers.actual.size(); ++i) {
        if (answers.actual[i].first != answers.actual[i - 1].first) continue;
        ++twice;
        if (answers.actual[i].second < first.second) first = answers.actual[i];
      }
    }
    if (twice > 0)
      reason(fmt::format("{} chosen twice among equals, the first at {}: {}", twice, first.second, first.first));
  }

  void disagree(std::int64_t index) {
    if (verdict_.nonfinite.disagreed++ == 0) verdict_.nonfinite.first = index;
  }

  // Judges an element of which a side is not finite; false: both are, and it is an element like others. `open`: nothing
  // is promised of it.
  bool judge_nonfinite(double exact, double actual, std::int64_t index, bool open) {
    Nonfinite& seen = verdict_.nonfinite;
    const double largest = largest_of(dtype_);
    const bool exact_odd = !(std::abs(exact) <= largest);
    if (!exact_odd && std::abs(actual) <= largest) return false;
    if (open) {
      ++seen.expected;
      ++seen.open;
      return true;
    }
    if (!exact_odd) {
      disagree(index);
      return true;
    }
    ++seen.expected;
    if (std::isnan(exact) ? options_.nan_is_open : options_.infinity_is_open) {
      ++seen.open;
      return true;
    }
    const bool same_sign = std::signbit(exact) == std::signbit(actual);
    if (std::isnan(exact)) {
      if (std::isnan(actual)) {
        ++seen.agreed;
      } else if (std::isinf(actual) && options_.nan_may_be_infinity) {
        ++seen.nan_as_inf;
      } else {
        disagree(index);
      }
    } else if ((std::isinf(actual) && same_sign) || (std::isfinite(exact) && actual == std::copysign(largest, exact))) {
      ++seen.agreed;  // beyond the format, but not infinite: the largest number is as right
    } else {
      disagree(index);
    }
    return true;
  }

  // The caller's numbers copied, to be changed.
  static void own(Chunk& chunk) {
    std::copy_n(chunk.exact, chunk.n, chunk.own_exact);
    chunk.exact = chunk.own_exact;
    if (chunk.magnitude != chunk.own_magnitude) std::copy_n(chunk.magnitude, chunk.n, chunk.own_magnitude);
    chunk.magnitude = chunk.own_magnitude;
    if (!chunk.carried) return;
    std::copy_n(chunk.before, chunk.n, chunk.own_before);
    chunk.before = chunk.own_before;
  }

  // Takes NaN, infinities and numbers beyond the format out of the chunk, and the rest of their block-float groups.
  void take_out_nonfinite(Chunk& chunk) {
    const auto first = static_cast<std::size_t>(chunk.exact - judged_.value.data());
    const double largest = largest_of(dtype_);
    bool out[kChunk] = {};
    if (chunk.carried) model_.fill_before(chunk);
    for (std::size_t i = 0; i < chunk.n; ++i) {
      const bool odd = !(std::abs(chunk.exact[i]) <= largest && std::abs(chunk.actual[i]) <= largest);
      const bool open = odd && ((!judged_.open.empty() && std::ranges::binary_search(judged_.open, first + i)) ||
                                (chunk.carried && at_an_end(judged_.after, largest,
                                                            {.given = chunk.before[i],
                                                             .reach = std::sqrt(chunk.bound_squared[i]),
                                                             .exact = chunk.exact[i],
                                                             .actual = chunk.actual[i]})));
      out[i] = judge_nonfinite(chunk.exact[i], chunk.actual[i], index_of(chunk, i), open);
    }
    if (is_block_float(dtype_)) {
      for (std::size_t row = 0; row < chunk.n; row += chunk.row_length) {
        const std::size_t end = std::min(row + chunk.row_length, chunk.n);
        for (std::size_t i = row; i < end; i += kGroup) {
          const std::size_t stop = std::min(i + kGroup, end);
          const bool odd =
              std::any_of(chunk.exact + i, chunk.exact + stop, [&](double v) { return !(std::abs(v) <= largest); });
          for (std::size_t j = i; odd && j < stop; ++j) {
            if (out[j] || chunk.actual[j] != 0.0) continue;
            out[j] = true;
            ++verdict_.nonfinite.group_zeroed;
          }
        }
      }
    }
    own(chunk);
    for (std::size_t i = 0; i < chunk.n; ++i) {
      if (out[i]) chunk.own_exact[i] = chunk.own_actual[i] = chunk.own_magnitude[i] = 0.0;
      if (out[i] && chunk.carried) chunk.own_before[i] = 0.0;
    }
    fill(chunk);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < chunk.n; ++i) {
      if (out[i]) continue;
      chunk.own_exact[kept] = chunk.own_exact[i];
      chunk.own_actual[kept] = chunk.own_actual[i];
      chunk.unit[kept] = chunk.unit[i];
      chunk.bound_squared[kept] = chunk.bound_squared[i];
      chunk.variance[kept] = chunk.variance[i];
      if (chunk.carried) {
        chunk.own_before[kept] = chunk.own_before[i];
        chunk.slope[kept] = chunk.slope[i];
      }
      chunk.place[kept] = static_cast<std::uint32_t>(i);
      ++kept;
    }
    chunk.places = chunk.n;
    chunk.n = kept;
    chunk.compacted = true;
  }

  void check_nonfinite() {
    const Nonfinite& seen = verdict_.nonfinite;
    if (seen.disagreed > 0) {
      reason(fmt::format("NaN or infinity: {} elements disagree, the first at {}", seen.disagreed, seen.first));
    }
    if (seen.open > 0)
      verdict_.notes.push_back(fmt::format("{} elements are NaN or infinite, of which nothing is promised", seen.open));
    if (seen.nan_as_inf > 0) verdict_.notes.push_back(fmt::format("{} NaN packed as infinity", seen.nan_as_inf));
    if (seen.group_zeroed > 0) {
      verdict_.notes.push_back(
          fmt::format("{} neighbours of NaN or infinity in block-float groups became 0", seen.group_zeroed));
    }
    if (verdict_.ties > 0) verdict_.notes.push_back(fmt::format("{} chosen differently among equals", verdict_.ties));
  }

  void check_bound() {
    const Metrics& m = verdict_.metrics;
    const Sums& sums = measured_->sums();
    const std::int64_t beyond = m.compared - sums.within;
    if (beyond == 0) return;
    const std::int64_t far = m.compared - sums.near;
    if (model_.exact()) {
      reason(fmt::format("{} of {} elements are not the exact ones, the first worst at {}: {} instead of {}", beyond,
                         m.compared, m.worst.index, m.worst.actual, m.worst.expected));
      return;
    }
    const auto allowed = static_cast<std::int64_t>((1 - options_.within_share) * static_cast<double>(m.compared));
    if (far == 0 && beyond <= allowed && !model_.contraction()) return;
    reason(
        fmt::format("{} of {} elements beyond the bound, the worst at {}: {} instead of {}, {:.3g} off, {:.3g} allowed",
                    beyond, m.compared, m.worst.index, m.worst.actual, m.worst.expected,
                    std::abs(m.worst.actual - m.worst.expected), m.worst.bound));
  }

  // More error than the accumulation explains: in the bulk, as a common factor, in a column.
  void check_accumulation() {
    Metrics& m = verdict_.metrics;
    if (m.compared == 0) return;
    const Sums& sums = measured_->sums();
    const double n = static_cast<double>(m.compared);
    const double coherence = measured_->coherence();
    m.excess = std::sqrt(sums.z_squared / n);
    // Where all partial sums are alike (positive data), their errors are one draw and not many: that takes more room.
    const double allowed_excess = options_.excess * (1 + 0.75 * coherence + 2 / std::sqrt(n));
    if (m.excess > allowed_excess)
      reason(fmt::format("errors are {:.2f} times what this accumulation shows, {:.2f} are accepted", m.excess,
                         allowed_excess));
    double shrinking = model_.shrinking_allowance();
    double growing = model_.growing_allowance();
    if (sums.weighted_ee > 0.0) {
      m.scale = 1 + sums.weighted_ed / sums.weighted_ee;
      const double typical = std::sqrt(n / sums.weighted_ee);  // error of an element, relative
      // Packing a block float takes two roundings, both away from zero at ties.
      const double packing =
          (is_block_float(dtype_) ? 0.4 : 0.1) * model_.ulps() * sums.weighted_unit / sums.weighted_ee;
      const double common = packing + 3 * std::sqrt(coherence) * typical;
      shrinking += common;
      growing += common;
      const double deviation = 6 / std::sqrt(sums.weighted_ee);
      // Where a fused function is nearly flat everywhere, nothing tells a factor.
      constexpr double kTold = 0.5;
      if (!judged_.before.empty() && deviation > kTold) {
        verdict_.notes.push_back(fmt::format("a common factor cannot be told: {:.2g} by chance", deviation));
      } else {
        m.factor_low = 1 - shrinking - deviation;
        m.factor_high = 1 + growing + deviation;
        if (m.scale > m.factor_high || m.scale < m.factor_low)
          reason(fmt::format("values are scaled by {:.5f}; rounding explains {:.5f} to {:.5f}", m.scale, m.factor_low,
                             m.factor_high));
      }
    }
    const Measure::Leaning leaning = measured_->most_leaning_column(std::max(shrinking, growing));
    const double allowed_leaning = options_.excess * (std::sqrt(2 * std::log(static_cast<double>(length_) + 1)) + 1);
    if (leaning.deviations > allowed_leaning)
      reason(fmt::format("column {} is off to one side by {:.1f} deviations, {:.1f} are accepted", leaning.column,
                         leaning.deviations, allowed_leaning));
    if (m.worst.bound > m.spread)
      verdict_.notes.push_back(
          fmt::format("the bound ({:.3g}) is wider than the spread of the output ({:.3g}): elements "
                      "cannot be told from each other",
                      m.worst.bound, m.spread));
  }

  // Where averages cancel (attention over many keys), the bound of an element is as wide as the element, and PCC does
  // not see a factor. But an error of at most `relative` in each part of a sum cannot scale the whole by more than
  // about that: twice is accepted, and what rounding of the output and chance add.
  void check_common_factor() {
    Metrics& m = verdict_.metrics;
    const double relative = judged_.budget.relative;
    const auto n = static_cast<double>(m.compared);
    if (!judged_.before.empty()) return;  // `relative` is of what was there before the function
    if (relative <= 0.0 || m.compared < kElementsForFactor || !(m.spread > 0.0) || std::isnan(m.pcc)) return;
    const Sums& sums = measured_->sums();
    const double exact_variance = sums.ee / n - sums.e / n * (sums.e / n);
    if (!(exact_variance > 0.0)) return;
    m.scale = (sums.ea / n - sums.e / n * (sums.a / n)) / exact_variance;
    const double rounding = (1 + model_.ulps()) * std::sqrt(12 * sums.rounding / n) / m.spread;
    const double chance = 6 * m.noise / m.spread / std::sqrt(n);
    const double common = judged_.budget.common;
    const double by_rows = judged_.budget.row_chance;
    const double shared = common - by_rows + by_rows / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, rows_)));
    const double allowed = (common >= 0.0 ? shared : 2 * relative) + rounding + chance;
    const double growing = allowed - (common >= 0.0 ? judged_.budget.shrinks : 0.0);
    m.factor_low = 1 - allowed;
    m.factor_high = 1 + growing;
    if (m.scale < m.factor_low || m.scale > m.factor_high)
      reason(fmt::format("values are scaled by {:.4f}; the budget explains {:.4f} to {:.4f}", m.scale, m.factor_low,
                         m.factor_high));
  }

  // Each element may lie within its bound, and all of a row lean the same way: a sum, a mean, a scale that is wrong.
  void check_rows() {
    const Measure::OddRow& odd = measured_->odd_row();
    if (odd.first < 0) return;
    reason(fmt::format("row {} as a whole is {} by {:.3g}; {:.3g} is accepted", odd.first / length_,
                       odd.shifted ? "shifted, in parts of its size," : "scaled off", odd.by, odd.accepted));
  }

  void check_pcc() {
    Metrics& m = verdict_.metrics;
    if (std::isnan(m.pcc)) return;
    const double accepted = m.noise * (model_.contraction() ? options_.excess : 1.0);
    m.pcc_floor = 1 / std::sqrt(1 + accepted * accepted / (m.spread * m.spread));
    if (m.pcc_floor < verdict_.pcc_threshold) {
      verdict_.notes.push_back(
          fmt::format("PCC means nothing here: spread {:.3g}, accepted noise {:.3g}; a sound kernel "
                      "may fall to {:.4f}, perfect rounding reaches {:.5f}",
                      m.spread, accepted, m.pcc_floor, m.pcc_ideal));
      return;
    }
    verdict_.judged_by = JudgedBy::kPccAndBound;
    if (m.pcc < verdict_.pcc_threshold) reason(fmt::format("PCC {:.6f} below {}", m.pcc, verdict_.pcc_threshold));
  }

  // Could a wrong output have looked the same?
  void check_spread() {
    if (measured_->count() == 0) {
      reason("no finite element to compare");
      return;
    }
    if (judged_.constant) return;
    if (measured_->actual().constant && measured_->actual().value == 0.0) {
      reason("the output is all zero");
    } else if (measured_->exact().constant && measured_->exact().value == 0.0) {
      reason("the exact output is all zero");
    } else if (measured_->count() > 1 && measured_->actual().constant) {
      reason(fmt::format("every element of the output is {}", measured_->actual().value));
    } else if (measured_->count() > 1 && measured_->exact().constant) {
      reason(fmt::format("every element of the exact output is {}", measured_->exact().value));
    } else if (!is_integer(dtype_) && std::sqrt(measured_->exact_square()) < kSmallestNormal) {
      reason("the exact output is denormal throughout: any device may flush it to zero");
    }
  }

  const Judged& judged_;
  const JudgeOptions& options_;
  DType dtype_;
  std::int64_t elements_;
  std::int64_t length_;
  std::int64_t total_rows_;
  std::int64_t rows_;
  BoundModel model_;
  Verdict verdict_;
  std::unique_ptr<Measure> measured_;
  double least_magnitude_ = 0.0;
  std::vector<std::int64_t> starts_;
  std::unordered_set<std::int64_t> made_otherwise_;  // choices with answers other than the exact ones
};

}  // namespace

Verdict judge(const Judged& judged, const JudgeOptions& options) { return Judgement(judged, options).decide(); }

}  // namespace opwright
