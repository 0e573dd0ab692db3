#include "report/perf_stats.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace opwright::report {
namespace {

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variance_of(std::span<const double> values, double mean) {
  double sum = 0;
  for (const double v : values) sum += (v - mean) * (v - mean);
  return sum / static_cast<double>(values.size() - 1);
}

// The regularised incomplete beta function, by its continued fraction (Lentz).
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(b, a, 1 - x);
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x)) / a;
  constexpr double kTiny = 1e-300;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < kTiny ? kTiny : d);
  double sum = d;
  for (int i = 1; i <= 300; ++i) {
    const double m = i, even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / (1 + even * d);
    c = 1 + even / c;
    sum *= c * d;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / (1 + odd * d);
    c = 1 + odd / c;
    const double step = c * d;
    sum *= step;
    if (std::abs(step - 1) < 1e-14) break;
  }
  return front * sum;
}

}  // namespace

double student_tail(double t, double degrees) {
  if (!std::isfinite(t)) return 0;
  return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double student_quantile(double degrees) {
  double low = 0, high = 1000;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (student_tail(middle, degrees) > 0.05 ? low : high) = middle;
  }
  return high;
}

std::vector<double> round_levels(const Rounds& rounds) {
  std::vector<double> out;
  for (const auto& times : rounds) {
    if (times.empty()) continue;
    out.push_back(std::log(std::max(1.0, median_of({times.begin(), times.end()}))));
  }
  return out;
}

std::optional<TimeChange> compare_rounds(const CasePerf& a, const CasePerf& b) {
  // The chip's times with the chip's, the host's with the host's.
  const bool device = !a.device.empty() && !b.device.empty();
  const std::vector<double> x = round_levels(device ? a.device : a.end_to_end);
  const std::vector<double> y = round_levels(device ? b.device : b.end_to_end);
  if (x.empty() || y.empty()) return std::nullopt;
  TimeChange change;
  const double from = mean_of(x), to = mean_of(y);
  change.ratio = std::exp(to - from);
  if (a.is_modelled && b.is_modelled) {  // the same each time: any difference is one
    change.low = change.high = change.ratio;
    change.chance = from == to ? 1 : 0;
    return change;
  }
  if (x.size() < 2 || y.size() < 2) return change;
  // A clock ticks, and medians of few times fall on the same tick: no side is more certain than that.
  constexpr double kLeastVariance = 1e-8;
  const double vx = std::max(kLeastVariance, variance_of(x, from)) / static_cast<double>(x.size());
  const double vy = std::max(kLeastVariance, variance_of(y, to)) / static_cast<double>(y.size());
  const double degrees = (vx + vy) * (vx + vy) /
                         (vx * vx / static_cast<double>(x.size() - 1) + vy * vy / static_cast<double>(y.size() - 1));
  const double error = std::sqrt(vx + vy);
  change.chance = student_tail((to - from) / error, degrees);
  const double reach = student_quantile(degrees) * error;
  change.low = std::exp(to - from - reach);
  change.high = std::exp(to - from + reach);
  return change;
}

std::vector<double> false_discovery_rates(std::span<const double> chances) {
  std::vector<std::size_t> order(chances.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return chances[i]; });
  std::vector<double> out(chances.size(), 1.0);
  double least = 1;
  for (std::size_t rank = order.size(); rank > 0; --rank) {
    const std::size_t at = order[rank - 1];
    least = std::min(least, chances[at] * static_cast<double>(chances.size()) / static_cast<double>(rank));
    out[at] = least;
  }
  return out;
}

Told tell(const TimeChange& change, const TellOptions& options) {
  const double most = 1 + options.margin;
  const bool known = change.low > 0;
  if (known && change.most_false <= options.false_rate && change.ratio > most) return Told::kSlower;
  if (known && change.most_false <= options.false_rate && change.ratio < 1 / most) return Told::kFaster;
  if (known && change.low >= 1 / most && change.high <= most) return Told::kSame;
  return Told::kCannotTell;
}

std::vector<std::size_t> change_points(std::span<const double> values) {
  const std::size_t count = values.size();
  if (count < 3) return {};
  // The noise between neighbours; a change of level spoils one difference only.
  std::vector<double> steps;
  for (std::size_t i = 1; i < count; ++i) steps.push_back(std::abs(values[i] - values[i - 1]));
  constexpr double kOfNormal = 0.9539;  // median |x - y| of two standard normal numbers
  constexpr double kLeastNoise = 0.005;
  const double noise = std::max(kLeastNoise, median_of(steps) / kOfNormal);
  const double penalty = 4 * std::log(static_cast<double>(count)) + 4;
  std::vector<double> sums(count + 1, 0), squares(count + 1, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const double scaled = values[i] / noise;
    sums[i + 1] = sums[i] + scaled;
    squares[i + 1] = squares[i] + scaled * scaled;
  }
  const auto cost = [&](std::size_t from, std::size_t to) {
    const double sum = sums[to] - sums[from];
    return squares[to] - squares[from] - sum * sum / static_cast<double>(to - from);
  };
  // The best cut of the first i values, for each i.
  std::vector<double> best(count + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> last(count + 1, 0);
  best[0] = -penalty;
  for (std::size_t to = 1; to <= count; ++to)
    for (std::size_t from = 0; from < to; ++from)
      if (const double total = best[from] + cost(from, to) + penalty; total < best[to]) {
        best[to] = total;
        last[to] = from;
      }
  std::vector<std::size_t> out;
  for (std::size_t at = last[count]; at > 0; at = last[at]) out.push_back(at);
  std::ranges::reverse(out);
  return out;
}

}  // namespace opwright::report
