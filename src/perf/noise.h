// Is the difference of two means a difference, or chance? Iterations of each report are drawn again, with replacement
// (bootstrap), a fixed number of times from a fixed seed, so that the same files give the same answer.
//
// Few iterations make a bootstrap too sure of itself: its spread is that of the values divided by n, not by n - 1, and
// its tails are those of the normal distribution. The interval is widened by both (n / (n - 1), and Student's t), and
// is never narrower than Student's own; from kLeastIterations on it holds what it says (noise_test.cpp measures that).
//
// What it cannot know: two runs differ by more than the iterations of one do (clocks, neighbours, temperature). An
// interval says what is certain of these two runs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "perf/row.h"

namespace opwright::perf {

inline constexpr std::size_t kResamples = 500;
inline constexpr std::uint64_t kNoiseSeed = 18;
inline constexpr std::int64_t kLeastIterations = 3;  // a side; fewer say nothing about their spread
inline constexpr double kConfidence = 0.95;

// How often each iteration is drawn: `draws` of one are the same for all positions, because what disturbs an iteration
// disturbs all of it.
class Resampler {
 public:
  explicit Resampler(std::size_t iterations);
  std::size_t iterations() const { return iterations_; }
  // The mean of each resample; of the figures that are there. Empty when a resample has none.
  std::vector<double> means(const std::vector<double>& values) const;

 private:
  std::size_t iterations_;
  std::vector<float> weights_;  // [iteration][resample]
};

enum class Verdict : std::uint8_t {
  kCannotTell,  // too few iterations, or the interval holds 0
  kSame,        // no figure differs at all
  kSlower,
  kFaster,
  kNoFigures,  // one side has none
};
std::string_view name_of(Verdict verdict);  // "cannot_tell"

struct Difference {
  double a = kNoFigure, b = kNoFigure;       // means
  double low = kNoFigure, high = kNoFigure;  // of b - a; no figure: too few iterations
  double chance = 1;                         // of so large a difference where there is none
  Verdict verdict = Verdict::kCannotTell;

  double change() const { return b - a; }
  double percent() const { return 100 * (b - a) / a; }
};

// `means_a`, `means_b`: of Resampler::means, or sums of several.
Difference difference_of(double a, std::size_t count_a, const std::vector<double>& means_a, double b,
                         std::size_t count_b, const std::vector<double>& means_b);

// Of many differences some look real by chance: those that do not hold (Benjamini and Hochberg, so that of the verdicts
// that stay at most 1 - kConfidence are expected to be wrong) become kCannotTell.
void control_discoveries(const std::vector<Difference*>& differences);

// The two-sided tail of Student's t, and where the middle holds `confidence`.
double student_tail(double t, double freedom);
double student_quantile(double confidence, double freedom);

}  // namespace opwright::perf
