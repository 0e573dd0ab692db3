// Times of two runs compared, and of one case over many: what changed, what did not, and what nobody can tell.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/perf.h"

namespace opwright::report {

// Medians of rounds, as logarithms of ns: rounds lie minutes apart, iterations of one round are alike and count once.
std::vector<double> round_levels(const Rounds& rounds);

// B against A.
struct TimeChange {
  double ratio = 1;          // B / A, of the means of round levels
  double low = 0, high = 0;  // 95 % interval of it; 0 and 0: too few rounds
  double chance = 1;         // of such a difference when nothing changed (Welch's t-test on levels)
  double most_false = 1;     // q: the expected part of false ones among all that are called changed down to here
};
// Nothing where a side has no time. Two sides of one modelled time each are compared exactly: chance 0 or 1.
std::optional<TimeChange> compare_rounds(const CasePerf& a, const CasePerf& b);

// Benjamini and Hochberg: for each chance the smallest rate of false discoveries at which it is one.
std::vector<double> false_discovery_rates(std::span<const double> chances);

enum class Told : std::uint8_t { kSlower, kFaster, kSame, kCannotTell };
// `false_rate`: how many in a hundred of the changes may be none. `margin`: a ratio within 1 / (1 + margin) … 1 +
// margin is no change worth naming.
struct TellOptions {
  double false_rate = 0.05, margin = 0.05;
};
Told tell(const TimeChange& change, const TellOptions& options);

// Where the level of a series changes: places of the first value of each new level, ascending. A change must be worth
// more than the noise between neighbours (least squares with a penalty for each change).
std::vector<std::size_t> change_points(std::span<const double> values);

double student_tail(double t, double degrees);  // two-sided
double student_quantile(double degrees);        // of 97.5 %

}  // namespace opwright::report
