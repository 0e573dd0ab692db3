// All figures of a verdict, gathered chunk by chunk in one pass.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/bound.h"
#include "compare/verdict.h"

namespace opwright {

// Sums and extremes over all elements. Values are taken from `shift` (a first guess of the mean), so that little is
// lost to cancellation.
struct Sums {
  double e = 0.0;
  double a = 0.0;
  double ee = 0.0;
  double aa = 0.0;
  double ea = 0.0;
  double squared_error = 0.0;
  double ulp = 0.0;
  double rounding = 0.0;  // ulp^2 / 12
  double variance = 0.0;
  double z_squared = 0.0;      // error^2 / variance
  double weighted_ee = 0.0;    // exact^2 / variance
  double weighted_ed = 0.0;    // exact x error / variance
  double weighted_unit = 0.0;  // |exact| x ulp / variance
  std::int64_t within = 0;
  std::int64_t near = 0;  // within twice the bound
  std::int64_t exact = 0;
  double max_abs = 0.0;
  double max_rel = 0.0;
  double max_ulp = 0.0;
  double max_ratio = 0.0;  // (error / bound)^2
};

class Measure {
 public:
  // `weighted`: also the sums over the variance, for contractions. Columns are watched where `columns` > 0.
  Measure(double shift, bool weighted, std::int64_t columns);

  // `row_starts`: where each row of the chunk starts in the whole output.
  // Fills the chunk's weights.
  void add(Chunk& chunk, std::size_t first_column, const std::int64_t* row_starts);

  Metrics metrics() const;
  const Sums& sums() const { return sums_; }
  std::int64_t count() const { return count_; }
  // Whether all values of a side are one value.
  struct Sameness {
    double value = 0.0;
    bool constant = true;
  };
  const Sameness& actual() const { return actual_; }
  const Sameness& exact() const { return exact_; }
  // mean^2 / mean square of the exact values: 0 for centred data, 1 for data without spread.
  double coherence() const;
  // Mean-square of the exact values.
  double exact_square() const;

  // The column whose errors lean most to one side, in standard deviations of their mean beyond what a common factor
  // of `scale_allowance` and coherent data explain.
  struct Leaning {
    std::int64_t column = -1;
    double deviations = 0.0;
  };
  Leaning most_leaning_column(double scale_allowance) const;

 private:
  void find_worst(const Chunk& chunk, const std::int64_t* row_starts);
  void add_columns(const Chunk& chunk, std::size_t first_column);

  double shift_;
  bool weighted_;
  Sums sums_;
  std::int64_t count_ = 0;
  Sameness exact_;
  Sameness actual_;
  WorstElement worst_;
  std::vector<std::uint64_t> histogram_;
  std::vector<double> column_z_;
  std::vector<double> column_e_;
  std::vector<double> column_ee_;
  std::vector<double> column_weight_;
  std::vector<double> column_rows_;
};

}  // namespace opwright
