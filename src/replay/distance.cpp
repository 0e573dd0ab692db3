#include "replay/distance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/vectorised.h"

namespace opwright::replay {
namespace {

constexpr std::size_t kLanes = 8;

// Sums of whole lanes of finite numbers, around `origin`: x, y, xx, yy, xy, (x-y)^2.
struct LaneSums {
  double x[kLanes] = {}, y[kLanes] = {}, xx[kLanes] = {}, yy[kLanes] = {}, xy[kLanes] = {}, dd[kLanes] = {};
};

[[gnu::always_inline]] inline void sum_lanes_loop(const float* a, const float* e, std::size_t count, double origin,
                                                  LaneSums& sums) {
  LaneSums s = sums;
  for (std::size_t i = 0; i + kLanes <= count; i += kLanes)
    for (std::size_t l = 0; l < kLanes; ++l) {
      const double x = static_cast<double>(a[i + l]) - origin, y = static_cast<double>(e[i + l]) - origin;
      const double d = x - y;
      s.x[l] += x;
      s.y[l] += y;
      s.xx[l] += x * x;
      s.yy[l] += y * y;
      s.xy[l] += x * y;
      s.dd[l] += d * d;
    }
  sums = s;
}
OPWRIGHT_VECTORISED(void, sum_lanes, (const float* a, const float* e, std::size_t count, double origin, LaneSums& sums),
                    (a, e, count, origin, sums))

// A sum that is finite exactly where all numbers are.
[[gnu::always_inline]] inline float times_zero_loop(const float* a, const float* e, std::size_t count) {
  float zero[kLanes] = {};
  for (std::size_t i = 0; i + kLanes <= count; i += kLanes)
    for (std::size_t l = 0; l < kLanes; ++l) zero[l] += a[i + l] * 0.0F + e[i + l] * 0.0F;
  float all = 0;
  for (const float one : zero) all += one;
  return all;
}
OPWRIGHT_VECTORISED(float, times_zero, (const float* a, const float* e, std::size_t count), (a, e, count))

double total(const double (&lanes)[kLanes]) {
  double out = 0;
  for (const double lane : lanes) out += lane;
  return out;
}

}  // namespace

template <class T>
void DistanceSums::add_each(const T* actual, const T* exact, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto a = static_cast<double>(actual[i]), e = static_cast<double>(exact[i]);
    if (!std::isfinite(a) || !std::isfinite(e)) {
      if (std::isfinite(a) != std::isfinite(e)) is_finite_ = false;
      continue;
    }
    if (!begun_) {
      begun_ = true;
      origin_ = e;
    }
    const double x = a - origin_, y = e - origin_;
    n_ += 1;
    a_ += x;
    e_ += y;
    aa_ += x * x;
    ee_ += y * y;
    ae_ += x * y;
    dd_ += (a - e) * (a - e);
  }
}

void DistanceSums::add(const Values& actual, std::size_t first, const Values& exact) {
  elements_ += static_cast<std::int64_t>(exact.size());
  if (!exact.ints.empty()) return add_each(actual.ints.data() + first, exact.ints.data(), exact.ints.size());
  const float* a = actual.floats.data() + first;
  const float* e = exact.floats.data();
  std::size_t count = exact.floats.size();
  // Numbers nearly always: then in wide steps, once the origin is known.
  if (count >= kLanes && std::isfinite(times_zero(a, e, count))) {
    std::size_t sound = count / kLanes * kLanes;  // looked at
    if (!begun_) {
      add_each(a, e, 1);
      ++a, ++e, --count, --sound;
    }
    LaneSums sums;
    const std::size_t whole = sound / kLanes * kLanes;
    sum_lanes(a, e, whole, origin_, sums);
    n_ += static_cast<double>(whole);
    a_ += total(sums.x);
    e_ += total(sums.y);
    aa_ += total(sums.xx);
    ee_ += total(sums.yy);
    ae_ += total(sums.xy);
    dd_ += total(sums.dd);
    a += whole, e += whole, count -= whole;
  }
  add_each(a, e, count);
}

Distance DistanceSums::result() const {
  Distance out;
  out.elements = elements_;
  out.is_finite = is_finite_;
  if (n_ == 0) {
    out.pcc = std::numeric_limits<double>::quiet_NaN();
    return out;
  }
  const double square = ee_ + 2 * origin_ * e_ + n_ * origin_ * origin_;  // of the exact values themselves
  out.rel_rms = dd_ == 0 ? 0 : square > 0 ? std::sqrt(dd_ / square) : std::numeric_limits<double>::infinity();
  const double va = aa_ - a_ * a_ / n_, ve = ee_ - e_ * e_ / n_;
  const double both = ae_ - a_ * e_ / n_;
  out.pcc =
      va > 0 && ve > 0 ? std::clamp(both / std::sqrt(va * ve), -1.0, 1.0) : std::numeric_limits<double>::quiet_NaN();
  return out;
}

Distance distance(const Values& actual, const Values& exact) {
  DistanceSums sums;
  sums.add(actual, 0, exact);
  return sums.result();
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

}  // namespace opwright::replay
