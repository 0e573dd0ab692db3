#include "compare/ulp.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "compare/float_pass.h"

namespace opwright {
namespace {

std::string index_text(std::size_t flat, const Shape& shape) {
  std::vector<std::int64_t> index(std::max<std::size_t>(shape.size(), 1));
  auto rest = static_cast<std::int64_t>(flat);
  for (std::size_t d = shape.size(); d-- > 1;) {
    const std::int64_t extent = std::max<std::int64_t>(shape[d], 1);
    index[d] = rest % extent;
    rest /= extent;
  }
  index[0] = rest;
  return fmt::format("[{}]", fmt::join(index, ", "));
}

bool same_places(double a, double b) {
  return std::isnan(a) == std::isnan(b) && std::isinf(a) == std::isinf(b) && (!std::isinf(a) || a == b);
}

struct Worst {
  double delta = 0.0;
  std::size_t at = 0;
};

double delta_at(Numbers golden, Numbers calculated, std::size_t i) {
  const double g = golden.at(i);
  const double c = calculated.at(i);
  if (!std::isfinite(g)) return 0.0;
  const NumberKind kind = golden.kind;
  const double unit = ulp_of(calculated.kind, rounded(calculated.kind, g));
  return rounded(kind, rounded(kind, std::abs(rounded(kind, c) - g)) / unit);
}

Worst worst_of(Numbers golden, Numbers calculated) {
  Worst worst;
  for (std::size_t i = 0; i < golden.size(); ++i) {
    const double delta = delta_at(golden, calculated, i);
    if (delta > worst.delta) worst = {delta, i};
  }
  return worst;
}

}  // namespace

Result<Check> comp_ulp(Numbers golden, Numbers calculated, double threshold, bool allow_nonfinite, const Shape& shape) {
  if (golden.size() != calculated.size()) {
    return fail(ErrorCode::kUsage, fmt::format("{} values against {}", golden.size(), calculated.size()));
  }
  if (golden.size() == 0) return Check{true, "Both tensors are empty"};
  if (golden.kind == NumberKind::kFloat32 && calculated.kind == NumberKind::kFloat32) {
    const FloatFigures figures = compare_floats(golden.floats, calculated.floats);
    if (figures.nonfinite == 0 && figures.ulp_max <= threshold) {
      return Check{true, "Max ULP Delta: " + python_text(golden.kind, figures.ulp_max)};
    }
  }
  bool places_agree = true;
  for (std::size_t i = 0; i < golden.size(); ++i) {
    if (!allow_nonfinite && !std::isfinite(calculated.at(i))) {
      return Check{false, "Calculated tensor contains non-finite values"};
    }
    places_agree = places_agree && same_places(golden.at(i), calculated.at(i));
  }
  if (!places_agree) return Check{false, "Tensors are not finite at the same positions"};
  const Worst worst = worst_of(golden, calculated);
  Check check{worst.delta <= threshold, "Max ULP Delta: " + python_text(golden.kind, worst.delta)};
  if (!check.passed) {
    const double g = golden.at(worst.at);
    check.message += fmt::format(" @ {} = |calculated {} - golden {}| / ULP(golden) {}", index_text(worst.at, shape),
                                 python_text(golden.kind, rounded(golden.kind, calculated.at(worst.at))),
                                 python_text(golden.kind, g),
                                 python_text(calculated.kind, ulp_of(calculated.kind, rounded(calculated.kind, g))));
  }
  return check;
}

namespace {

int bfloat16_pattern(float value) {
  return static_cast<int>(std::bit_cast<std::uint32_t>(round_to_bfloat16(value)) >> 16);
}

// Values by rank out of a histogram of whole numbers.
class Ranks {
 public:
  explicit Ranks(const std::vector<std::uint64_t>& counts) : counts_(counts) {}

  double at(std::uint64_t rank) const {
    std::uint64_t below = 0;
    for (std::size_t value = 0; value < counts_.size(); ++value) {
      below += counts_[value];
      if (rank < below) return static_cast<double>(value);
    }
    return 0.0;
  }
  double quantile(double share, std::uint64_t total) const {
    const double place = share * static_cast<double>(total - 1);
    const auto lower = static_cast<std::uint64_t>(place);
    const double low = at(lower);
    return low + (at(std::min(lower + 1, total - 1)) - low) * (place - static_cast<double>(lower));
  }

 private:
  const std::vector<std::uint64_t>& counts_;
};

}  // namespace

Result<UlpStats> bfloat16_ulp_stats(std::span<const float> expected, std::span<const float> actual) {
  if (expected.size() != actual.size()) {
    return fail(ErrorCode::kUsage, fmt::format("{} values against {}", expected.size(), actual.size()));
  }
  if (expected.empty()) return UlpStats{};
  std::vector<std::uint64_t> counts(0x10000);
  std::uint64_t total = 0;
  double sum = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const int e = bfloat16_pattern(expected[i]);
    const int a = bfloat16_pattern(actual[i]);
    const int e_magnitude = e & 0x7FFF;
    const int a_magnitude = a & 0x7FFF;
    int distance = 0;
    if (e_magnitude < 0x7F80 && a_magnitude < 0x7F80) {
      distance = (e ^ a) & 0x8000 ? e_magnitude + a_magnitude : std::abs(e_magnitude - a_magnitude);
    } else if (!(e_magnitude > 0x7F80 && a_magnitude > 0x7F80) && e != a) {
      continue;
    }
    ++counts[static_cast<std::size_t>(distance)];
    ++total;
    sum += distance;
  }
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (total == 0) return UlpStats{kInf, kInf, kInf, kInf, kInf, kInf, 0.0};
  const Ranks ranks(counts);
  const double n = static_cast<double>(total);
  UlpStats stats;
  stats.mean = sum / n;
  double squares = 0.0;
  for (std::size_t value = 0; value < counts.size(); ++value) {
    const double off = static_cast<double>(value) - stats.mean;
    squares += static_cast<double>(counts[value]) * off * off;
  }
  stats.std = total > 1 ? std::sqrt(squares / (n - 1)) : std::numeric_limits<double>::quiet_NaN();
  stats.max = ranks.at(total - 1);
  stats.median = ranks.at((total - 1) / 2);
  stats.p95 = ranks.quantile(0.95, total);
  stats.p99 = ranks.quantile(0.99, total);
  stats.exact_share = static_cast<double>(counts[0]) / n;
  return stats;
}

}  // namespace opwright
