// Is B slower than A, or is it noise? Durations of a machine that does other things too vary by tens of percent, so one
// pair of times proves nothing; docs/formats/results.md says the tests in words.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace opwright::report {

// The times of one case in two runs; usually one each.
struct TimedPair {
  std::vector<double> a, b;  // seconds, > 0
  int group = 0;             // its operator
};

// How far a pair may be off by chance: ratios B / A of all pairs, their median, and their spread around it.
struct Noise {
  std::int64_t pairs = 0;
  double median_ratio = 1;  // of all pairs: a machine that is slower altogether
  double spread = 0;        // of ln(ratio) around it: 1.4826 x MAD, not below kLeastSpread
  double limit = 0;         // ratio over the median that a pair must pass: exp(z x spread)
};

struct Slower {
  std::size_t pair = 0;
  double seconds_a = 0, seconds_b = 0;  // medians
  double ratio = 1;                     // B / A, the run-wide median taken out
  bool confirmed = false;               // at least 3 times a side, and every one of B above every one of A
  double chance = 1;                    // confirmed: of such an order when nothing changed
};

// An operator whose cases are slower together: many weak signs are a strong one.
struct SlowerGroup {
  int group = 0;
  std::int64_t pairs = 0, slower = 0;
  double ratio = 1;   // median, the run-wide one taken out
  double chance = 1;  // of a coin falling so, times the number of operators asked about
};

struct TimeVerdict {
  Noise noise;
  std::vector<Slower> slower, faster;  // the largest change first
  std::vector<SlowerGroup> slower_groups, faster_groups;
  std::int64_t too_short = 0;  // pairs below kLeastSeconds on both sides: not compared
  bool enough = false;         // at least kLeastPairs pairs: else nothing is claimed of single times
};

inline constexpr double kLeastSeconds = 1e-3;  // what takes less is not compared
inline constexpr double kLeastChange = 1e-3;   // seconds
inline constexpr double kLeastRatio = 1.25;    // smaller changes are not worth a line
inline constexpr double kLeastSpread = 0.02;
inline constexpr std::int64_t kLeastPairs = 10;  // to know the noise at all
inline constexpr std::int64_t kLeastGroup = 8;   // pairs of an operator
inline constexpr double kChance = 0.01;

TimeVerdict compare_times(std::span<const TimedPair> pairs);

}  // namespace opwright::report
