#include "perf/noise.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace opwright::perf {
namespace {

// The continued fraction of the incomplete beta function (Lentz).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < kTiny ? kTiny : d);
  double fraction = d;
  for (int m = 1; m < 300; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    for (const double term : {even, odd}) {
      d = 1 + term * d;
      d = 1 / (std::abs(d) < kTiny ? kTiny : d);
      c = 1 + term / c;
      if (std::abs(c) < kTiny) c = kTiny;
      fraction *= d * c;
    }
    if (std::abs(d * c - 1) < 1e-14) break;
  }
  return fraction;
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double variance_of(const std::vector<double>& values) {
  double mean = 0, squares = 0;
  for (const double value : values) mean += value;
  mean /= static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / static_cast<double>(values.size());
}

double quantile_of(std::vector<double>& values, double share) {
  const double at = share * static_cast<double>(values.size() - 1);
  const auto whole = static_cast<std::ptrdiff_t>(at);
  std::nth_element(values.begin(), values.begin() + whole, values.end());
  const double low = values[static_cast<std::size_t>(whole)];
  if (static_cast<std::size_t>(whole) + 1 == values.size()) return low;
  const double high = *std::min_element(values.begin() + whole + 1, values.end());
  return low + (at - static_cast<double>(whole)) * (high - low);
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kCannotTell:
      return "cannot_tell";
    case Verdict::kSame:
      return "same";
    case Verdict::kSlower:
      return "slower";
    case Verdict::kFaster:
      return "faster";
    case Verdict::kNoFigures:
      return "no_figure";
  }
  return "";
}

double student_tail(double t, double freedom) {
  if (std::isinf(t)) return 0;
  return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double student_quantile(double confidence, double freedom) {
  double low = 0, high = 1e6;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (student_tail(middle, freedom) > 1 - confidence ? low : high) = middle;
  }
  return high;
}

Resampler::Resampler(std::size_t iterations) : iterations_(iterations) {
  if (iterations < static_cast<std::size_t>(kLeastIterations)) return;
  weights_.assign(iterations * kResamples, 0);
  // Of a fixed generator, taken modulo by hand: std::uniform_int_distribution differs from library to library.
  std::mt19937_64 random(kNoiseSeed + iterations);
  for (std::size_t resample = 0; resample < kResamples; ++resample)
    for (std::size_t i = 0; i < iterations; ++i) {
      const auto drawn =
          static_cast<std::size_t>(static_cast<double>(random() >> 11) * 0x1p-53 * static_cast<double>(iterations));
      weights_[std::min(drawn, iterations - 1) * kResamples + resample] += 1;
    }
}

std::vector<double> Resampler::means(const std::vector<double>& values) const {
  if (weights_.empty() || values.size() != iterations_) return {};
  std::vector<double> sums(kResamples, 0);
  std::vector<double> counts;
  const bool whole = std::all_of(values.begin(), values.end(), [](double value) { return has(value); });
  if (!whole) counts.assign(kResamples, 0);
  for (std::size_t i = 0; i < iterations_; ++i) {
    const double value = values[i];
    if (!has(value)) continue;
    const float* weight = &weights_[i * kResamples];
    for (std::size_t r = 0; r < kResamples; ++r) sums[r] += static_cast<double>(weight[r]) * value;
    if (!whole)
      for (std::size_t r = 0; r < kResamples; ++r) counts[r] += static_cast<double>(weight[r]);
  }
  for (std::size_t r = 0; r < kResamples; ++r) {
    const double count = whole ? static_cast<double>(iterations_) : counts[r];
    if (count == 0) return {};
    sums[r] /= count;
  }
  return sums;
}

Difference difference_of(double a, std::size_t count_a, const std::vector<double>& means_a, double b,
                         std::size_t count_b, const std::vector<double>& means_b) {
  Difference out{.a = a, .b = b};
  if (!has(a) || !has(b)) {
    out.verdict = Verdict::kNoFigures;
    return out;
  }
  const auto least = static_cast<std::size_t>(kLeastIterations);
  if (count_a < least || count_b < least || means_a.empty() || means_b.empty()) return out;
  const double n = static_cast<double>(count_a), m = static_cast<double>(count_b);
  const double wider_a = std::sqrt(n / (n - 1)), wider_b = std::sqrt(m / (m - 1));
  const double var_a = variance_of(means_a) * wider_a * wider_a, var_b = variance_of(means_b) * wider_b * wider_b;
  const double deviation = std::sqrt(var_a + var_b);
  if (deviation <= 1e-12 * std::max(std::abs(a), std::abs(b))) {  // every iteration alike
    out.low = out.high = b - a;
    out.chance = a == b ? 1 : 0;
    out.verdict = a == b ? Verdict::kSame : b > a ? Verdict::kSlower : Verdict::kFaster;
    return out;
  }
  // Welch and Satterthwaite.
  const double freedom = (var_a + var_b) * (var_a + var_b) / (var_a * var_a / (n - 1) + var_b * var_b / (m - 1));
  static const double normal = student_quantile(kConfidence, 1e9);
  const double quantile = student_quantile(kConfidence, freedom), heavier = quantile / normal;
  std::vector<double> changes(kResamples);
  for (std::size_t r = 0; r < kResamples; ++r)
    changes[r] = (b - a) + heavier * (wider_b * (means_b[r] - b) - wider_a * (means_a[r] - a));
  // The wider one on each side: that of the resamples knows a skew, that of Student the little that few values tell.
  out.low = std::min(quantile_of(changes, (1 - kConfidence) / 2), (b - a) - quantile * deviation);
  out.high = std::max(quantile_of(changes, (1 + kConfidence) / 2), (b - a) + quantile * deviation);
  out.chance = student_tail((b - a) / deviation, freedom);
  if (out.low > 0) out.verdict = Verdict::kSlower;
  if (out.high < 0) out.verdict = Verdict::kFaster;
  return out;
}

void control_discoveries(const std::vector<Difference*>& differences) {
  std::vector<Difference*> asked;
  for (Difference* one : differences)
    if (has(one->low)) asked.push_back(one);
  std::sort(asked.begin(), asked.end(), [](const Difference* a, const Difference* b) { return a->chance < b->chance; });
  std::size_t stay = 0;
  for (std::size_t i = 0; i < asked.size(); ++i)
    if (asked[i]->chance <= (1 - kConfidence) * static_cast<double>(i + 1) / static_cast<double>(asked.size()))
      stay = i + 1;
  for (std::size_t i = stay; i < asked.size(); ++i)
    if (asked[i]->verdict != Verdict::kSame) asked[i]->verdict = Verdict::kCannotTell;
}

}  // namespace opwright::perf
