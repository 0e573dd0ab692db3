#include "report/perf_stats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace opwright::report {
namespace {

CasePerf timed(double ns, double noise, std::uint64_t seed, int rounds = 5) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  CasePerf perf;
  for (int r = 0; r < rounds; ++r) {
    const double drift = std::exp(noise * normal(random));
    auto& times = perf.end_to_end.emplace_back();
    for (int i = 0; i < 20; ++i) times.push_back(std::llround(ns * drift * std::exp(0.02 * normal(random))));
  }
  return perf;
}

TEST(PerfStats, StudentsTailsAreThoseOfTables) {
  EXPECT_NEAR(student_quantile(1), 12.706, 0.01);
  EXPECT_NEAR(student_quantile(8), 2.306, 0.001);
  EXPECT_NEAR(student_quantile(1000), 1.962, 0.001);
  EXPECT_NEAR(student_tail(2.306, 8), 0.05, 1e-4);
  EXPECT_NEAR(student_tail(0, 8), 1, 1e-12);
}

TEST(PerfStats, AThirdMoreIsSlowerAndTheSameIsTheSame) {
  auto slower = compare_rounds(timed(1e5, 0.01, 1), timed(1.33e5, 0.01, 2));
  slower->most_false = slower->chance;
  EXPECT_NEAR(slower->ratio, 1.33, 0.03);
  EXPECT_LT(slower->low, 1.33);
  EXPECT_GT(slower->high, 1.33);
  EXPECT_EQ(tell(*slower, {}), Told::kSlower);
  auto same = compare_rounds(timed(1e5, 0.01, 3), timed(1e5, 0.01, 4));
  same->most_false = same->chance;
  EXPECT_EQ(tell(*same, {}), Told::kSame);
}

TEST(PerfStats, ANoisyDeviceCannotTell) {
  int cannot_tell = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    auto change = compare_rounds(timed(1e5, 0.5, 2 * i), timed(1.1e5, 0.5, 2 * i + 1));
    change->most_false = change->chance;
    cannot_tell += tell(*change, {}) == Told::kCannotTell ? 1 : 0;
  }
  EXPECT_GE(cannot_tell, 180);  // of one case alone, one in twenty is called changed by chance
  auto one_round = compare_rounds(timed(1e5, 0.01, 5, 1), timed(2e5, 0.01, 6, 1));
  EXPECT_EQ(tell(*one_round, {}), Told::kCannotTell);
}

// 2,000 cases of which none changed: hardly one is called changed, where a plain 5 % would call a hundred.
TEST(PerfStats, AmongThousandsOfCasesChanceIsNoDiscovery) {
  std::vector<double> chances;
  std::size_t plain = 0, called = 0, found = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const double change = i < 100 ? 1.5 : 1;  // a hundred did
    chances.push_back(compare_rounds(timed(1e5, 0.05, 2 * i), timed(change * 1e5, 0.05, 2 * i + 1))->chance);
    if (i >= 100 && chances.back() < 0.05) ++plain;
  }
  const std::vector<double> rates = false_discovery_rates(chances);
  for (std::size_t i = 0; i < rates.size(); ++i)
    if (rates[i] <= 0.05) ++(i < 100 ? found : called);
  EXPECT_GT(plain, 50U);
  EXPECT_EQ(found, 100U);
  EXPECT_LE(called, 15U);  // 5 in a hundred discoveries, on average
}

TEST(PerfStats, RatesGrowWithChances) {
  const std::vector<double> rates = false_discovery_rates(std::vector<double>{0.01, 0.04, 0.03, 0.9});
  EXPECT_DOUBLE_EQ(rates[0], 0.04);
  EXPECT_DOUBLE_EQ(rates[2], 0.04 * 4 / 3);
  EXPECT_DOUBLE_EQ(rates[1], 0.04 * 4 / 3);
  EXPECT_DOUBLE_EQ(rates[3], 0.9);
}

TEST(PerfStats, ModelledTimesAreExact) {
  CasePerf a, b;
  a.is_modelled = b.is_modelled = true;
  a.device = {{1000}};
  b.device = {{1000}};
  EXPECT_EQ(tell(*compare_rounds(a, b), {}), Told::kSame);
  b.device = {{1200}};
  auto change = *compare_rounds(a, b);
  change.most_false = change.chance;
  EXPECT_EQ(tell(change, {}), Told::kSlower);
  EXPECT_FALSE(compare_rounds(a, timed(1e5, 0.01, 1)).has_value()) << "a chip's time and a host's are two things";
}

TEST(PerfStats, LevelsOfAHistory) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0, 0.02);
  std::vector<double> values;
  for (int i = 0; i < 30; ++i) values.push_back((i < 12 ? 10.0 : i < 20 ? 10.3 : 10.1) + normal(random));
  EXPECT_EQ(change_points(values), (std::vector<std::size_t>{12, 20}));
  for (double& value : values) value = 10 + normal(random);
  EXPECT_TRUE(change_points(values).empty());
  EXPECT_TRUE(change_points(std::vector<double>{1, 2}).empty());
  EXPECT_TRUE(change_points(std::vector<double>(20, 3.0)).empty());
}

}  // namespace
}  // namespace opwright::report
