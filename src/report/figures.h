// A number that some cases have: how many, least, most, average, percentiles. Percentiles are exact: the values are
// kept, 8 bytes each, and nothing else of a case is.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace opwright::report {

class Figures {
 public:
  void add(double value);
  void add(const std::optional<double>& value) {
    if (value)
      add(*value);
    else
      ++missing_;
  }
  void miss() { ++missing_; }

  std::int64_t count() const { return static_cast<std::int64_t>(values_.size()); }
  std::int64_t missing() const { return missing_; }      // cases that do not have it
  std::int64_t nonfinite() const { return nonfinite_; }  // NaN or infinite: in no other figure
  bool empty() const { return values_.empty(); }

  // Of at least one value.
  double min() const { return min_; }
  double max() const { return max_; }
  double sum() const { return sum_; }
  double average() const { return sum_ / static_cast<double>(values_.size()); }
  double percentile(double percent) const;  // 50: the median; between two values their mean, weighted
  const std::vector<double>& sorted() const;

 private:
  mutable std::vector<double> values_;
  mutable bool in_order_ = true;
  std::int64_t missing_ = 0, nonfinite_ = 0;
  double min_ = 0, max_ = 0, sum_ = 0;
};

}  // namespace opwright::report
