// How early a run has shown what: operators and their classes (dtype, layout, memory kind, size) after ten seconds,
// after a minute and at its end, and how its time compares with the best order's.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "exec/case_spool.h"

namespace opwright {

class SeenEarly {
 public:
  // `chosen`: the cases of the run.
  SeenEarly(std::span<const PlannedCase> cases, std::span<const std::uint32_t> chosen);
  // A case has ended, so many seconds after the run began, and took so long.
  void ended(std::uint32_t index, double at, double seconds);

  // "seen after 10 s: 41 of 96 operations, 12 % of their classes, 512 cases\n…"; marks that lie behind the end are left
  // out. `total` seconds of a run on `workers`; "" of one that ended before the first mark. How the total compares with
  // the best order's is said of runs that are `complete`; workers spent `repeating` seconds on failures beside it.
  std::string text(double total, int workers, bool complete, double repeating = 0) const;

 private:
  struct Mark {
    double at = 0;
    std::int64_t operations = 0, classes = 0, cases = 0;
  };
  static constexpr std::array kMarks{10.0, 60.0};

  std::string line(double at, const Mark& mark) const;

  std::span<const PlannedCase> cases_;
  std::vector<std::uint64_t> classes_;  // all, in order
  std::vector<bool> seen_class_;
  std::vector<bool> seen_op_;
  std::int64_t operations_ = 0;
  Mark now_;
  std::vector<Mark> passed_;
  std::vector<double> seconds_;
  double first_ = -1;
  double every_operation_ = -1;  // when the last of them was seen
};

}  // namespace opwright
