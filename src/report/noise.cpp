#include "report/noise.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace opwright::report {
namespace {

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// How many spreads a pair must be off so that of n pairs of pure Gaussian noise fewer than kChance would be named.
// Real noise has longer tails than Gauss: that is why a single pair stays a suspicion.
double limit_in_spreads(std::int64_t n) {
  const double wanted = kChance / static_cast<double>(n);
  double low = 0, high = 40;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(middle / std::sqrt(2.0)) > wanted ? low : high) = middle;
  }
  return high;
}

// Of all orders of a + b times, one has every b above every a.
double chance_of_order(std::size_t a, std::size_t b) {
  double orders = 1;
  for (std::size_t i = 1; i <= b; ++i) orders *= static_cast<double>(a + i) / static_cast<double>(i);
  return 1 / orders;
}

// A fair coin that shows at least k heads in n throws.
double chance_of_heads(std::int64_t n, std::int64_t k) {
  double sum = 0;
  for (std::int64_t i = k; i <= n; ++i) {
    const auto x = static_cast<double>(i), m = static_cast<double>(n);
    sum += std::exp(std::lgamma(m + 1) - std::lgamma(x + 1) - std::lgamma(m - x + 1) - m * std::log(2.0));
  }
  return std::min(1.0, sum);
}

struct Ratio {
  std::size_t pair;
  double a, b, log;
};

// Pairs beyond the limit, in one direction. `sign` 1: slower, -1: faster.
std::vector<Slower> beyond(std::span<const TimedPair> pairs, const std::vector<Ratio>& ratios, const Noise& noise,
                           int sign) {
  std::vector<Slower> found;
  const double middle = std::log(noise.median_ratio);
  for (const Ratio& one : ratios) {
    const double off = sign * (one.log - middle);
    if (off < std::log(noise.limit) || off < std::log(kLeastRatio)) continue;
    // What the machine as a whole explains is no change of the case.
    if (std::abs(one.b - one.a * noise.median_ratio) < kLeastChange) continue;
    Slower slower{one.pair, one.a, one.b, std::exp(one.log - middle)};
    const auto& [a, b, group] = pairs[one.pair];
    const auto& low = sign > 0 ? a : b;
    const auto& high = sign > 0 ? b : a;
    const bool apart = *std::max_element(low.begin(), low.end()) < *std::min_element(high.begin(), high.end());
    if (a.size() >= 3 && b.size() >= 3 && apart) {
      slower.confirmed = true;
      slower.chance = chance_of_order(a.size(), b.size());
    }
    found.push_back(slower);
  }
  std::stable_sort(found.begin(), found.end(),
                   [&](const Slower& x, const Slower& y) { return sign > 0 ? x.ratio > y.ratio : x.ratio < y.ratio; });
  return found;
}

void compare_groups(std::span<const TimedPair> pairs, const std::vector<Ratio>& ratios, TimeVerdict& verdict) {
  std::map<int, std::vector<double>> logs;  // around the run-wide median
  for (const Ratio& one : ratios) logs[pairs[one.pair].group].push_back(one.log - std::log(verdict.noise.median_ratio));
  std::int64_t asked = 0;
  for (const auto& [group, values] : logs) asked += static_cast<std::int64_t>(values.size()) >= kLeastGroup ? 1 : 0;
  for (const auto& [group, values] : logs) {
    const auto n = static_cast<std::int64_t>(values.size());
    if (n < kLeastGroup) continue;
    const double ratio = std::exp(median_of(values));
    for (const int sign : {1, -1}) {
      const auto k = std::count_if(values.begin(), values.end(), [&](double value) { return sign * value > 0; });
      // Two directions are asked about: twice the chance.
      const double chance = std::min(1.0, 2 * chance_of_heads(n, k) * static_cast<double>(asked));
      const double change = sign > 0 ? ratio : 1 / ratio;
      if (chance > kChance || change < kLeastRatio) continue;
      (sign > 0 ? verdict.slower_groups : verdict.faster_groups).push_back({group, n, k, ratio, chance});
    }
  }
}

}  // namespace

TimeVerdict compare_times(std::span<const TimedPair> pairs) {
  TimeVerdict verdict;
  std::vector<Ratio> ratios;
  std::vector<double> logs;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const double a = median_of(pairs[i].a), b = median_of(pairs[i].b);
    if (a < kLeastSeconds && b < kLeastSeconds) {
      ++verdict.too_short;
      continue;
    }
    ratios.push_back({i, a, b, std::log(b / a)});
    logs.push_back(ratios.back().log);
  }
  Noise& noise = verdict.noise;
  noise.pairs = static_cast<std::int64_t>(ratios.size());
  verdict.enough = noise.pairs >= kLeastPairs;
  if (!verdict.enough) return verdict;
  const double middle = median_of(logs);
  noise.median_ratio = std::exp(middle);
  for (double& value : logs) value = std::abs(value - middle);
  noise.spread = std::max(kLeastSpread, 1.4826 * median_of(logs));
  noise.limit = std::exp(limit_in_spreads(noise.pairs) * noise.spread);
  verdict.slower = beyond(pairs, ratios, noise, 1);
  verdict.faster = beyond(pairs, ratios, noise, -1);
  compare_groups(pairs, ratios, verdict);
  return verdict;
}

}  // namespace opwright::report
