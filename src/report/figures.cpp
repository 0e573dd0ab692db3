#include "report/figures.h"

#include <algorithm>
#include <cmath>

namespace opwright::report {

void Figures::add(double value) {
  if (!std::isfinite(value)) {
    ++nonfinite_;
    return;
  }
  min_ = values_.empty() ? value : std::min(min_, value);
  max_ = values_.empty() ? value : std::max(max_, value);
  in_order_ = in_order_ && (values_.empty() || values_.back() <= value);
  sum_ += value;
  values_.push_back(value);
}

const std::vector<double>& Figures::sorted() const {
  if (!in_order_) std::sort(values_.begin(), values_.end());
  in_order_ = true;
  return values_;
}

double Figures::percentile(double percent) const {
  const std::vector<double>& values = sorted();
  const double place = percent / 100 * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, values.size() - 1);
  const double share = place - static_cast<double>(below);
  return values[below] + share * (values[above] - values[below]);
}

}  // namespace opwright::report
