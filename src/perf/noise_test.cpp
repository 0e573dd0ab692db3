#include "perf/noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace opwright::perf {
namespace {

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

Difference compare(const std::vector<double>& a, const std::vector<double>& b) {
  const Resampler left(a.size()), right(b.size());
  return difference_of(mean_of(a), a.size(), left.means(a), mean_of(b), b.size(), right.means(b));
}

TEST(Noise, StudentIsThatOfTheTables) {
  EXPECT_NEAR(student_quantile(0.95, 2), 4.303, 1e-3);
  EXPECT_NEAR(student_quantile(0.95, 9), 2.262, 1e-3);
  EXPECT_NEAR(student_quantile(0.95, 1e9), 1.960, 1e-3);
  EXPECT_NEAR(student_quantile(0.99, 5), 4.032, 1e-3);
  EXPECT_NEAR(student_tail(2.262, 9), 0.05, 1e-4);
}

TEST(Noise, TooFewIterationsCannotTell) {
  const Difference one = compare({100}, {900}), two = compare({100, 101}, {900, 901});
  EXPECT_EQ(one.verdict, Verdict::kCannotTell);
  EXPECT_EQ(two.verdict, Verdict::kCannotTell);
  EXPECT_FALSE(has(one.low));
  EXPECT_EQ(one.change(), 800);
}

TEST(Noise, APlainDifferenceIsSeenAndNoneIsNot) {
  const std::vector<double> a{100, 102, 98, 101, 99}, b{110, 112, 108, 111, 109};
  EXPECT_EQ(compare(a, b).verdict, Verdict::kSlower);
  EXPECT_EQ(compare(b, a).verdict, Verdict::kFaster);
  EXPECT_EQ(compare(a, {101, 99, 100, 103, 98}).verdict, Verdict::kCannotTell);
  EXPECT_EQ(compare({7, 7, 7}, {7, 7, 7}).verdict, Verdict::kSame);
  EXPECT_EQ(compare({7, 7, 7}, {8, 8, 8}).verdict, Verdict::kSlower);
}

TEST(Noise, TheSameNumbersGiveTheSameInterval) {
  const std::vector<double> a{100, 102, 98, 101, 99}, b{103, 112, 108, 99, 109};
  EXPECT_EQ(compare(a, b).low, compare(a, b).low);
  EXPECT_LT(compare(a, b).low, compare(a, b).high);
  EXPECT_NEAR(compare(a, b).low, -compare(b, a).high, 1.5);
}

TEST(Noise, IterationsWithoutAFigureAreLeftOut) {
  const Resampler resampler(20);
  std::vector<double> values(20, 5.0);
  values[3] = kNoFigure;
  for (const double mean : resampler.means(values)) EXPECT_DOUBLE_EQ(mean, 5.0);
  EXPECT_TRUE(Resampler(3).means({kNoFigure, kNoFigure, 1}).empty()) << "a resample without any figure has no mean";
}

// The law: an interval that says 95 % holds the truth in about so many of many worlds, for few iterations too, and for
// times that are no bell curve.
TEST(Noise, IntervalsHoldTheTruthAsOftenAsTheySay) {
  std::mt19937 random(5);
  std::normal_distribution<double> bell(1000, 20);
  std::exponential_distribution<double> tail(1.0 / 20);
  for (const std::size_t count : {3UL, 4UL, 10UL, 30UL}) {
    for (const bool skewed : {false, true}) {
      int held = 0;
      constexpr int kWorlds = 200;
      for (int world = 0; world < kWorlds; ++world) {
        std::vector<double> a(count), b(count);
        for (double& value : a) value = skewed ? 1000 + tail(random) : bell(random);
        for (double& value : b) value = 7 + (skewed ? 1000 + tail(random) : bell(random));
        const Difference found = compare(a, b);
        held += found.low <= 7 && 7 <= found.high ? 1 : 0;
      }
      EXPECT_GE(held, kWorlds * 90 / 100) << count << " iterations, " << (skewed ? "skewed" : "bell");
      RecordProperty(std::to_string(count) + (skewed ? "_skewed" : "_bell"), held);
    }
  }
}

TEST(Noise, OfManyPositionsWithoutADifferenceHardlyAnyIsNamed) {
  std::mt19937 random(6);
  std::normal_distribution<double> bell(1000, 20);
  std::vector<Difference> all;
  for (int i = 0; i < 400; ++i) {
    std::vector<double> a(8), b(8);
    for (double& value : a) value = bell(random);
    for (double& value : b) value = bell(random) + (i < 10 ? 300 : 0);
    all.push_back(compare(a, b));
  }
  const auto named = [&](int from) {
    return std::count_if(all.begin() + from, all.end(),
                         [](const Difference& d) { return d.verdict == Verdict::kSlower; });
  };
  EXPECT_GT(named(10), 2) << "by chance alone";
  std::vector<Difference*> pointers;
  for (Difference& one : all) pointers.push_back(&one);
  control_discoveries(pointers);
  EXPECT_EQ(named(0) - named(10), 10) << "those that are";
  EXPECT_LE(named(10), 3);
}

}  // namespace
}  // namespace opwright::perf
