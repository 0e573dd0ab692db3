#include "replay/distance.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace opwright::replay {
namespace {

struct Sums {
  double n = 0, a = 0, e = 0, aa = 0, ee = 0, ae = 0, dd = 0;
};

template <class T>
Distance of(const std::vector<T>& actual, std::span<const double> exact) {
  Distance out;
  Sums sums;
  // Sums are taken around the first element: a common offset costs no digits.
  double origin = 0;
  bool begun = false;
  const std::size_t count = std::min(actual.size(), exact.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto a = static_cast<double>(actual[i]);
    const double e = exact[i];
    if (!std::isfinite(a) || !std::isfinite(e)) {
      if (std::isfinite(a) != std::isfinite(e)) out.is_finite = false;
      continue;
    }
    if (!begun) {
      begun = true;
      origin = e;
    }
    const double x = a - origin, y = e - origin;
    sums.n += 1;
    sums.a += x;
    sums.e += y;
    sums.aa += x * x;
    sums.ee += y * y;
    sums.ae += x * y;
    sums.dd += (a - e) * (a - e);
  }
  out.elements = static_cast<std::int64_t>(count);
  if (sums.n == 0) {
    out.pcc = std::numeric_limits<double>::quiet_NaN();
    return out;
  }
  const double square = sums.ee + 2 * origin * sums.e + sums.n * origin * origin;  // of the exact values themselves
  out.rel_rms = sums.dd == 0 ? 0 : square > 0 ? std::sqrt(sums.dd / square) : std::numeric_limits<double>::infinity();
  const double va = sums.aa - sums.a * sums.a / sums.n, ve = sums.ee - sums.e * sums.e / sums.n;
  const double both = sums.ae - sums.a * sums.e / sums.n;
  out.pcc =
      va > 0 && ve > 0 ? std::clamp(both / std::sqrt(va * ve), -1.0, 1.0) : std::numeric_limits<double>::quiet_NaN();
  return out;
}

bool same_values(const Values& device, std::span<const double> exact) {
  if (device.size() != exact.size()) return false;
  if (!device.ints.empty())
    return std::ranges::equal(device.ints, exact, [](std::int64_t a, double e) { return static_cast<double>(a) == e; });
  return std::ranges::equal(device.floats, exact, [](float a, double e) { return static_cast<double>(a) == e; });
}

}  // namespace

Distance distance(const Values& actual, std::span<const double> exact) {
  return actual.ints.empty() ? of(actual.floats, exact) : of(actual.ints, exact);
}

void worsen(std::optional<Distance>& worst, const Distance& other) {
  if (!worst) {
    worst = other;
    return;
  }
  if (std::isnan(worst->pcc) || other.pcc < worst->pcc) worst->pcc = other.pcc;
  worst->rel_rms = std::max(worst->rel_rms, other.rel_rms);
  worst->elements += other.elements;
  worst->is_finite = worst->is_finite && other.is_finite;
}

void keep_exact(std::span<const double> exact, Content& content) {
  if (same_values(content.device, exact)) return;
  content.diverged = true;
  if (content.device.ints.empty())
    content.exact.floats.assign(exact.begin(), exact.end());
  else
    for (const double value : exact) content.exact.ints.push_back(std::llround(value));
}

}  // namespace opwright::replay
