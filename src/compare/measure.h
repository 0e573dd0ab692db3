// All figures of a verdict, gathered chunk by chunk in one pass.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/bound.h"
#include "compare/chunk_sums.h"
#include "compare/verdict.h"

namespace opwright {

class Measure {
 public:
  // `weighted`: also the sums over the variance, for contractions. Columns are watched where `columns` > 0, in `rows`
  // rows.
  Measure(double shift, bool weighted, std::int64_t columns, std::int64_t rows);

  // `row_starts`: where each row of the chunk starts in the whole output.
  // Fills the chunk's weights.
  void add(Chunk& chunk, std::size_t first_column, const std::int64_t* row_starts);

  Metrics metrics() const;
  const Sums& sums() const { return sums_; }
  std::int64_t count() const { return count_; }
  // The largest (error / bound)^2 so far; negative: there was no element yet.
  double worst_ratio() const { return worst_.index < 0 ? -1.0 : sums_.max_ratio; }
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

  // The row that is most out of proportion: as a whole scaled by `factor`, or shifted by `offset` of its rms, further
  // than `allowance` and some deviations of chance explain. `excess` is by how much, as a part of what is accepted.
  struct OddRow {
    std::int64_t first = -1;  // its first element in the whole output; -1: none
    bool shifted = false;
    double by = 0.0;
    double accepted = 0.0;
  };
  // Watches rows of `length` from here on, unless they are too short to say anything. `allowance`: what all elements of
  // a row may share (ErrorBudget::common).
  void watch_rows(double allowance, double only_shrinking, std::int64_t length);
  const OddRow& odd_row();

  // The column whose errors lean most to one side, in standard deviations of their mean beyond what a common factor
  // of `scale_allowance` and coherent data explain.
  struct Leaning {
    std::int64_t column = -1;
    double deviations = 0.0;
  };
  Leaning most_leaning_column(double scale_allowance) const;

 private:
  void find_worst(const Chunk& chunk, const std::int64_t* row_starts);
  void add_missing(const Chunk& chunk, std::size_t first_column);
  void add_columns(const Chunk& chunk, std::size_t first_column);
  void add_rows(const Chunk& chunk, std::size_t first_column, const std::int64_t* row_starts);
  void end_row();

  double shift_;
  bool weighted_;
  std::int64_t rows_;
  Sums sums_;
  std::int64_t count_ = 0;
  Sameness exact_;
  Sameness actual_;
  WorstElement worst_;
  // The row that is being read: a chunk may hold a part of it.
  struct RowSums {
    double square = 0.0;  // of the exact values, the errors and the errors' squares as they are
    double d = 0.0;
    double dd = 0.0;
    double ed = 0.0;  // these over the variance: small elements that are as accurate as large ones count as much
    double ee = 0.0;
    double eedd = 0.0;
    double eeed = 0.0;
    double eeee = 0.0;
    double unit = 0.0;
    double n = 0.0;
    std::int64_t first = -1;
  };
  double row_allowance_ = -1.0;
  double only_shrinking_ = 0.0;  // the part of it by which a row may be smaller, and not larger
  RowSums row_;
  OddRow odd_;
  std::vector<std::uint64_t> histogram_;
  std::vector<double> column_z_;
  std::vector<double> column_e_;
  std::vector<double> column_ee_;
  std::vector<double> column_weight_;
  std::vector<double> column_missing_;  // rows of which the column was not taken
};

}  // namespace opwright
