#include "report/run_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/json.h"
#include "report/run_diff_view.h"
#include "report/test_records.h"

namespace opwright::report {
namespace {

using ::testing::HasSubstr;

RunDiff diff_of(const std::vector<CaseRecord>& a, const std::vector<CaseRecord>& b) {
  auto diff = diff_runs(run_of("a"), stream_of(a), run_of("b"), stream_of(b));
  EXPECT_TRUE(diff) << diff.error().message;
  return *std::move(diff);
}

// ---- the noise test

std::vector<TimedPair> noisy_pairs(int count, double sigma, unsigned seed, double factor = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, sigma);
  std::vector<TimedPair> pairs;
  for (int i = 0; i < count; ++i) {
    const double base = 0.005 * (1 + i % 40);
    pairs.push_back({{base * std::exp(normal(random))}, {base * factor * std::exp(normal(random))}, i % 5});
  }
  return pairs;
}

// The promise is one false alarm in a hundred comparisons of two equal runs, however many cases they have.
TEST(Noise, PureNoiseRarelyAlarms) {
  int alarms = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const TimeVerdict verdict = compare_times(noisy_pairs(300, 0.2, seed));
    alarms += verdict.slower.empty() && verdict.slower_groups.empty() ? 0 : 1;
  }
  EXPECT_LE(alarms, 12);  // 2 causes of 1 %, and what estimating the spread adds
}

TEST(Noise, ASlowMachineIsNoSlowCase) {
  const TimeVerdict verdict = compare_times(noisy_pairs(500, 0.05, 1, 1.7));
  EXPECT_NEAR(verdict.noise.median_ratio, 1.7, 0.05);
  EXPECT_TRUE(verdict.slower.empty());
  EXPECT_TRUE(verdict.faster.empty());
}

TEST(Noise, ACaseFarBeyondTheOthersIsSuspected) {
  auto pairs = noisy_pairs(200, 0.05, 3);
  pairs[17].b[0] = pairs[17].a[0] * 3;
  pairs[18].b[0] = pairs[18].a[0] / 3;
  const TimeVerdict verdict = compare_times(pairs);
  ASSERT_EQ(verdict.slower.size(), 1u);
  EXPECT_EQ(verdict.slower[0].pair, 17u);
  EXPECT_NEAR(verdict.slower[0].ratio, 3, 0.2);
  EXPECT_FALSE(verdict.slower[0].confirmed);  // one pair proves nothing
  ASSERT_EQ(verdict.faster.size(), 1u);
  EXPECT_EQ(verdict.faster[0].pair, 18u);
}

TEST(Noise, SeveralTimesThatLieApartConfirm) {
  auto pairs = noisy_pairs(50, 0.05, 3);
  pairs[4] = {{0.010, 0.011, 0.0105}, {0.030, 0.031, 0.029}, 0};
  pairs[5] = {{0.010, 0.011, 0.0105}, {0.030, 0.031, 0.0107}, 0};  // one of B is among those of A
  const TimeVerdict verdict = compare_times(pairs);
  ASSERT_EQ(verdict.slower.size(), 2u);
  for (const Slower& one : verdict.slower) EXPECT_EQ(one.confirmed, one.pair == 4);
  EXPECT_DOUBLE_EQ(verdict.slower[verdict.slower[0].pair == 4 ? 0 : 1].chance, 0.05);
}

TEST(Noise, AnOperatorThatIsSlowerAsAWholeIsNamed) {
  auto pairs = noisy_pairs(300, 0.2, 5);
  for (TimedPair& pair : pairs)
    if (pair.group == 2) pair.b[0] *= 1.5;  // within the noise of each single pair
  const TimeVerdict verdict = compare_times(pairs);
  ASSERT_EQ(verdict.slower_groups.size(), 1u);
  EXPECT_EQ(verdict.slower_groups[0].group, 2);
  EXPECT_LT(verdict.slower_groups[0].chance, 0.01);
}

TEST(Noise, FewOrShortTimesAreNotJudged) {
  EXPECT_FALSE(compare_times(noisy_pairs(9, 0.01, 1)).enough);
  std::vector<TimedPair> brief(50, TimedPair{{1e-5}, {9e-4}, 0});
  const TimeVerdict verdict = compare_times(brief);
  EXPECT_EQ(verdict.too_short, 50);
  EXPECT_FALSE(verdict.enough);
}

// ---- the lists

TEST(RunDiff, ARunAgainstItselfIsEmpty) {
  std::vector<CaseRecord> records;
  for (int i = 0; i < 40; ++i) records.push_back(record_of(i, i % 5 == 0 ? Outcome::kFailed : Outcome::kPassed));
  const RunDiff diff = diff_of(records, records);
  EXPECT_EQ(diff.both, 40);
  EXPECT_EQ(diff.same_outcome, 40);
  EXPECT_FALSE(diff.has_new_failure());
  EXPECT_TRUE(diff.accuracy_drops.empty() && diff.memory_growth.empty() && diff.slower.empty() && diff.only_a.empty());
}

TEST(RunDiff, OutcomesGoToTheirLists) {
  const auto both = [](Outcome a, Outcome b) { return diff_of({record_of(0, a)}, {record_of(0, b)}); };
  EXPECT_EQ(both(Outcome::kPassed, Outcome::kCrashed).new_failures.size(), 1u);
  EXPECT_EQ(both(Outcome::kUnsupported, Outcome::kFailed).new_failures.size(), 1u);
  EXPECT_EQ(both(Outcome::kTimedOut, Outcome::kPassed).fixed.size(), 1u);
  EXPECT_EQ(both(Outcome::kPassed, Outcome::kUnsupported).lost_verdicts.size(), 1u);
  EXPECT_EQ(both(Outcome::kFailed, Outcome::kCrashed).changed.size(), 1u);
  EXPECT_TRUE(both(Outcome::kPassed, Outcome::kUnsupported).has_new_failure());
  EXPECT_FALSE(both(Outcome::kFailed, Outcome::kCrashed).has_new_failure());
  const RunDiff only = diff_of({record_of(0)}, {record_of(1, Outcome::kFailed)});
  EXPECT_EQ(only.only_a.size(), 1u);
  EXPECT_EQ(only.only_b.size(), 1u);
  EXPECT_EQ(only.failing_new_cases.size(), 1u);
  EXPECT_TRUE(only.has_new_failure());
  EXPECT_EQ(only.only_a[0].line, record_of(0).line);
}

TEST(RunDiff, AChangeCarriesTheTextsOfB) {
  CaseRecord a = record_of(0), b = record_of(0, Outcome::kFailed);
  b.reason = "PCC 0.3";
  b.repeat = "repeat b";
  const RunDiff diff = diff_of({a}, {b});
  ASSERT_EQ(diff.new_failures.size(), 1u);
  EXPECT_EQ(diff.new_failures[0].repeat, "repeat b");
  EXPECT_EQ(diff.new_failures[0].reason, "PCC 0.3");
  EXPECT_EQ(diff.new_failures[0].from, "passed");
  EXPECT_THAT(diff_text(diff, 10, 100), HasSubstr("repeat: repeat b"));
}

TEST(RunDiff, WithoutVectorIdsKeyAndSuiteDecide) {
  CaseRecord a = record_of(0), b = record_of(0, Outcome::kFailed);
  a.vector = b.vector = "";
  b.index = 77;
  EXPECT_EQ(diff_of({a}, {b}).new_failures.size(), 1u);
  b.suite = "sample";
  EXPECT_EQ(diff_of({a}, {b}).both, 0);
  a.key = b.key = "";  // then the line
  EXPECT_EQ(diff_of({a}, {b}).both, 1);
}

TEST(RunDiff, AccuracyHasALimitThatKnowsTheData) {
  const auto drops = [](double a, double b, std::uint64_t seed) {
    CaseRecord x = record_of(0), y = record_of(0);
    x.pcc = a;
    y.pcc = b;
    x.ulp = y.ulp = 1;
    y.recipe.seed = seed;
    return diff_of({x}, {y}).accuracy_drops.size();
  };
  EXPECT_EQ(drops(0.9999, 0.9999, 1), 0u);
  EXPECT_EQ(drops(0.9999, 0.99985, 1), 1u);
  EXPECT_EQ(drops(0.9999, 0.99985, 2), 0u);  // other data: within what data does
  EXPECT_EQ(drops(0.9999, 0.9990, 2), 1u);
  EXPECT_EQ(drops(0.9999, 0.99999, 1), 0u);
  EXPECT_EQ(drops(1.0, 1.0 - 1e-9, 1), 0u);
  CaseRecord x = record_of(0), y = record_of(0);
  y.ulp = 30;  // the PCC cannot tell a 1-ULP kernel from a 30-ULP one
  EXPECT_EQ(diff_of({x}, {y}).accuracy_drops.size(), 1u);
  EXPECT_EQ(diff_of({y}, {x}).accuracy_gains.size(), 1u);
}

TEST(RunDiff, MemoryGrowthIsNamed) {
  CaseRecord a = record_of(0), b = record_of(0);
  a.l1_per_core = 100000;
  b.l1_per_core = 100500;
  EXPECT_TRUE(diff_of({a}, {b}).memory_growth.empty());
  b.l1_per_core = 150000;
  EXPECT_EQ(diff_of({a}, {b}).memory_growth.size(), 1u);
}

TEST(RunDiff, RepeatedResultsOfACaseCountTogether) {
  std::vector<CaseRecord> a, b;
  for (int i = 0; i < 20; ++i) {
    a.push_back(record_of(i));
    b.push_back(record_of(i));
  }
  for (int k = 0; k < 2; ++k) {
    a.push_back(record_of(0));
    b.push_back(record_of(0));
  }
  for (CaseRecord& record : b)
    if (record.vector == record_of(0).vector) record.device_seconds = 0.050;
  b.back().outcome = Outcome::kPassed;
  const RunDiff diff = diff_of(a, b);
  EXPECT_EQ(diff.repeated, 4);
  ASSERT_EQ(diff.slower.size(), 1u);
  EXPECT_TRUE(diff.times.slower[0].confirmed);
  EXPECT_THAT(diff.slower[0].to, HasSubstr("every time apart"));
}

TEST(RunDiff, WhatMakesRunsHardToCompareIsSaid) {
  RunRecord a = run_of("a"), b = run_of("b");
  b.host = "other";
  b.status = "interrupted";
  const std::vector<CaseRecord> records{record_of(0)};
  const auto diff = diff_runs(a, stream_of(records), b, stream_of(records));
  const std::string text = diff_text(*diff, 5, 100);
  EXPECT_THAT(text, HasSubstr("hosts differ"));
  EXPECT_THAT(text, HasSubstr("run b is interrupted"));
  json::Document document;
  EXPECT_TRUE(document.parse(diff_json(*diff).text()).has_value());
}

}  // namespace
}  // namespace opwright::report
