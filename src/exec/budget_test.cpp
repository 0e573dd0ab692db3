#include "exec/budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>
#include <set>

namespace opwright {
namespace {

std::vector<PlannedCase> generated(std::size_t count, std::uint32_t ops, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::lognormal_distribution<double> seconds(-4, 2);
  std::lognormal_distribution<double> calls(2, 2.5);
  std::vector<PlannedCase> cases;
  for (std::size_t i = 0; i < count; ++i) {
    PlannedCase one;
    one.op = static_cast<std::uint32_t>(random() % ops);
    one.seconds = static_cast<float>(seconds(random));
    one.weight = random() % 20 == 0 ? 0 : static_cast<std::int64_t>(calls(random));
    one.features = {.dtype = static_cast<DType>(1 + random() % 8),
                    .layout = static_cast<Layout>(1 + random() % 2),
                    .buffer = static_cast<BufferType>(1 + random() % 2),
                    .memory = static_cast<MemoryLayout>(1 + random() % 4),
                    .size = static_cast<SizeClass>(random() % 5)};
    cases.push_back(one);
  }
  return cases;
}

// The end of the last case when each worker takes the next as soon as it is free.
double simulated_wall(const std::vector<PlannedCase>& cases, const std::vector<std::uint32_t>& order, int workers) {
  std::vector<double> free_at(static_cast<std::size_t>(workers));
  for (const std::uint32_t index : order)
    *std::ranges::min_element(free_at) += static_cast<double>(cases[index].seconds);
  return *std::ranges::max_element(free_at);
}

TEST(ParseBudget, TakesTimesAsPeopleWriteThem) {
  EXPECT_EQ(*parse_budget("60s"), 60);
  EXPECT_EQ(*parse_budget("90"), 90);
  EXPECT_EQ(*parse_budget("5m"), 300);
  EXPECT_EQ(*parse_budget("1h30m"), 5400);
  EXPECT_EQ(*parse_budget("0.5s"), 0.5);
  for (const char* text : {"", "s", "60x", "0", "-5s", "5m1h", "5s5s", "1e400", "nan", "60 s"})
    EXPECT_EQ(parse_budget(text).error().code, ErrorCode::kUsage) << text;
}

TEST(Budget, TakesTheCasesThatCoverMostCalls) {
  std::vector<PlannedCase> cases(4);
  cases[0] = {.weight = 1000, .op = 0, .seconds = 1, .features = {.dtype = DType::kBfloat16}};
  cases[1] = {.weight = 900, .op = 0, .seconds = 1, .features = {.dtype = DType::kBfloat16}};  // nothing new
  cases[2] = {.weight = 800, .op = 0, .seconds = 1, .features = {.dtype = DType::kBfloat8B}};
  cases[3] = {.weight = 1, .op = 1, .seconds = 1, .features = {.dtype = DType::kBfloat16}};
  EXPECT_EQ(choose_within(cases, 1, 1).chosen, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(choose_within(cases, 2, 1).chosen, (std::vector<std::uint32_t>{0, 3}));  // each operator first
  const BudgetPlan three = choose_within(cases, 3, 1);
  EXPECT_EQ(three.chosen, (std::vector<std::uint32_t>{0, 2, 3}));
  EXPECT_EQ(three.chosen_calls, 1801);
  EXPECT_EQ(three.calls, 2701);
  EXPECT_TRUE(three.not_covered.empty());
  ASSERT_EQ(three.left_out.size(), 1U);
  EXPECT_EQ(three.left_out[0].cases, 1);
  EXPECT_EQ(choose_within(cases, 4, 1).chosen.size(), 4U);
}

TEST(Budget, SaysWhatIsLeftOut) {
  std::vector<PlannedCase> cases(3);
  auto spool = CaseSpool::create();
  cases[0] = {.weight = 70, .op = spool->op_id("ttnn.add"), .seconds = 1, .features = {.dtype = DType::kBfloat16}};
  cases[1] = {.weight = 20, .op = spool->op_id("ttnn.add"), .seconds = 50, .features = {.dtype = DType::kBfloat8B}};
  cases[2] = {.weight = 10, .op = spool->op_id("ttnn.linear"), .seconds = 60, .features = {.dtype = DType::kBfloat16}};
  const BudgetPlan plan = choose_within(cases, 10, 1);
  ASSERT_EQ(plan.not_covered.size(), 2U);
  EXPECT_EQ(plan.not_covered[0].kind, Covered::kDType);
  EXPECT_EQ(plan.not_covered[0].value, "BFLOAT8_B");
  EXPECT_EQ(plan.not_covered[1].kind, Covered::kOperator);
  EXPECT_DOUBLE_EQ(plan.share[0], 0.9);
  EXPECT_DOUBLE_EQ(plan.share[1], 0.7);
  const std::string text = budget_text(plan, *spool, 10);
  EXPECT_NE(text.find("1 of 3 cases"), std::string::npos) << text;
  EXPECT_NE(text.find("ttnn.add  dtype BFLOAT8_B  1 case, 20 calls"), std::string::npos) << text;
  EXPECT_NE(text.find("ttnn.linear  not at all"), std::string::npos) << text;
  EXPECT_NE(budget_text(plan, *spool, 1).find("and 1 more"), std::string::npos);
}

TEST(Budget, NothingToChooseFromIsNoError) {
  EXPECT_TRUE(choose_within({}, 60, 4).chosen.empty());
  const auto cases = generated(5, 2, 1);
  EXPECT_TRUE(choose_within(cases, 1e-9, 4).chosen.empty());
}

TEST(Budget, IsNeverExceededByEstimateWhateverStartsFirst) {
  std::mt19937 random(5);
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const auto cases = generated(1 + random() % 300, 1 + random() % 20, seed);
    const int workers = 1 + static_cast<int>(random() % 8);
    const double seconds = std::exp(static_cast<double>(random() % 1000) / 100.0 - 5);
    const BudgetPlan plan = choose_within(cases, seconds, workers);
    EXPECT_LE(plan.wall_seconds, seconds * (1 + 1e-9));
    std::vector<std::uint32_t> order = plan.chosen;
    for (int shuffle = 0; shuffle < 5; ++shuffle) {
      std::ranges::shuffle(order, random);
      EXPECT_LE(simulated_wall(cases, order, workers), plan.wall_seconds * (1 + 1e-6));
    }
  }
}

TEST(Budget, EveryOperatorIsThereWhenTimeAllows) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const auto cases = generated(200, 25, seed);
    std::map<std::uint32_t, double> cheapest;
    for (const PlannedCase& one : cases) {
      const auto [slot, first] = cheapest.emplace(one.op, one.seconds);
      if (!first) slot->second = std::min(slot->second, static_cast<double>(one.seconds));
    }
    double sum = 0;
    for (const auto& [op, seconds] : cheapest) sum += std::max(1e-6, seconds);
    const BudgetPlan plan = choose_within(cases, sum * 1.0001, 1);
    std::set<std::uint32_t> ops;
    for (const std::uint32_t index : plan.chosen) ops.insert(cases[index].op);
    EXPECT_EQ(ops.size(), cheapest.size());
    EXPECT_DOUBLE_EQ(plan.share[0], 1.0);
  }
}

// As much: operators first, then all features together, then calls.
TEST(Budget, ALargerOneCoversAtLeastAsMuch) {
  std::mt19937 random(9);
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const auto cases = generated(1 + random() % 150, 1 + random() % 12, seed);
    const int workers = 1 + static_cast<int>(random() % 4);
    std::array<double, 3> before{};
    for (double seconds = 0.001; seconds < 300; seconds *= 1.1) {
      const BudgetPlan plan = choose_within(cases, seconds, workers);
      const auto calls = static_cast<double>(plan.calls);
      const std::array<double, 3> now{
          std::round(plan.share[0] * calls),
          std::round(std::accumulate(plan.share.begin(), plan.share.end(), 0.0) * calls),
          static_cast<double>(plan.chosen_calls),
      };
      EXPECT_GE(now, before) << "seed " << seed << ", " << workers << " workers, " << seconds << " s";
      before = now;
    }
  }
}

TEST(Budget, TheSameCasesGiveTheSameChoice) {
  const auto cases = generated(2000, 30, 3);
  EXPECT_EQ(choose_within(cases, 20, 2).chosen, choose_within(cases, 20, 2).chosen);
}

// No timed test: that choosing is not quadratic shows in that the large one ends at all.
TEST(Budget, ManyCases) {
  const bool slow = std::getenv("OPWRIGHT_SLOW") != nullptr;
  const auto cases = generated(slow ? 1'000'000 : 100'000, 120, 1);
  const auto start = std::chrono::steady_clock::now();
  const BudgetPlan plan = choose_within(cases, 60, 4);
  RecordProperty(
      "milliseconds",
      static_cast<int>(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() * 1e3));
  EXPECT_GT(plan.chosen.size(), 100U);
  EXPECT_LE(plan.wall_seconds, 60.0);
  EXPECT_DOUBLE_EQ(plan.share[0], 1.0);
}

TEST(CoverageOrder, ShowsEveryOperatorThenEveryClassAndHasEachCaseOnce) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const auto cases = generated(300, 25, seed);
    const CoverageOrder order = coverage_order(cases);
    std::set<std::uint32_t> each(order.order.begin(), order.order.end());
    EXPECT_EQ(order.order.size(), cases.size());
    EXPECT_EQ(each.size(), cases.size());
    std::set<std::uint32_t> ops, first;
    for (const PlannedCase& one : cases) ops.insert(one.op);
    for (std::size_t i = 0; i < order.operators; ++i) first.insert(cases[order.order[i]].op);
    EXPECT_EQ(first, ops);
    std::vector<bool> run(cases.size());
    for (std::size_t i = 0; i < order.classes; ++i) run[order.order[i]] = true;
    EXPECT_TRUE(coverage_of(cases, run).not_covered.empty());
    EXPECT_LE(order.operators, order.opening);
    EXPECT_LE(order.opening, order.classes);
  }
}

TEST(CoverageOf, SaysWhatWasRunAndWhatWasNot) {
  std::vector<PlannedCase> cases(2);
  auto spool = CaseSpool::create();
  cases[0] = {.weight = 70, .op = spool->op_id("ttnn.add"), .seconds = 1, .features = {.dtype = DType::kBfloat16}};
  cases[1] = {.weight = 30, .op = spool->op_id("ttnn.linear"), .seconds = 9, .features = {.dtype = DType::kBfloat16}};
  const std::string text = covered_text(coverage_of(cases, {true, false}), *spool, 2.5, 10);
  EXPECT_NE(text.find("budget: 1 of 2 cases in 2.5 s, 70.0 % of the calls"), std::string::npos) << text;
  EXPECT_NE(text.find("ttnn.linear  1 case, 30 calls, about 9.0 s"), std::string::npos) << text;
  EXPECT_NE(text.find("ttnn.linear  not at all"), std::string::npos) << text;
}

}  // namespace
}  // namespace opwright
