// Where more than one answer is right, and where the sides of a bound differ: choices among equals, elements of which
// nothing is promised, rows that may only get smaller.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "compare/judge.h"
#include "compare/test_data.h"

namespace opwright {
namespace {

using test::tensor_of;
using ::testing::Contains;
using ::testing::HasSubstr;

ErrorBudget budget_of(ErrorBudget::Kind kind) {
  ErrorBudget budget;
  budget.kind = kind;
  return budget;
}

// One choice of all that is there.
Verdict judged(const std::vector<double>& exact, const std::vector<double>& actual, DType dtype,
               const ErrorBudget& budget, SameChoice same = {}) {
  const HostTensor tensor = tensor_of({static_cast<std::int64_t>(exact.size())}, dtype, actual);
  return judge({.wanted = tensor.spec,
                .actual = tensor,
                .budget = budget,
                .value = exact,
                .same_choice = std::move(same),
                .choice_of = [](std::int64_t) { return 0; }});
}

TEST(JudgeChoices, SelectionsMayDifferAmongEquals) {
  const ErrorBudget budget = budget_of(ErrorBudget::Kind::kSelection);
  const std::vector<double> source{5, 9, 9, 7};
  const SameChoice same = [&](std::int64_t, double e, double a) {
    return a >= 0 && a < 4 && source[static_cast<std::size_t>(e)] == source[static_cast<std::size_t>(a)];
  };
  EXPECT_EQ(judged({1, 2, 3}, {2, 1, 3}, DType::kUint32, budget).outcome, Outcome::kFailed);
  const Verdict tied = judged({1, 2, 3}, {2, 1, 3}, DType::kUint32, budget, same);
  EXPECT_EQ(tied.outcome, Outcome::kPassed);
  EXPECT_EQ(tied.ties, 2);
  EXPECT_EQ(judged({1, 2, 3}, {2, 2, 3}, DType::kUint32, budget, same).outcome, Outcome::kFailed);
  EXPECT_EQ(judged({1, 2, 3}, {1, 2, 0}, DType::kUint32, budget, same).outcome, Outcome::kFailed);
}

// A row is looked at in pieces; what was chosen in one may not be chosen again in another.
TEST(JudgeChoices, NothingIsChosenTwiceInALongRow) {
  const ErrorBudget budget = budget_of(ErrorBudget::Kind::kSelection);
  const SameChoice same = [](std::int64_t, double, double) { return true; };
  std::vector<double> exact(2000);
  std::iota(exact.begin(), exact.end(), 0.0);
  std::vector<double> actual(exact.rbegin(), exact.rend());
  EXPECT_EQ(judged(exact, actual, DType::kUint32, budget, same).outcome, Outcome::kPassed);
  actual[1900] = actual[3];
  const Verdict verdict = judged(exact, actual, DType::kUint32, budget, same);
  EXPECT_EQ(verdict.outcome, Outcome::kFailed);
  EXPECT_THAT(verdict.reasons, Contains(HasSubstr("1 chosen twice among equals, the first at 1900")));
}

TEST(JudgeChoices, OfOpenElementsNothingIsPromised) {
  const ErrorBudget budget = budget_of(ErrorBudget::Kind::kElementwise);
  const std::vector<double> exact{1, NAN, 3, NAN};
  const std::vector<std::size_t> open{1};
  for (const double given : {0.0, -std::numeric_limits<double>::infinity(), 7.0}) {
    const HostTensor tensor = tensor_of({4}, DType::kFloat32, {1, given, 3, NAN});
    const Judged all{.wanted = tensor.spec, .actual = tensor, .budget = budget, .value = exact, .open = open};
    EXPECT_EQ(judge(all).outcome, Outcome::kPassed) << given;
    const Judged none{.wanted = tensor.spec, .actual = tensor, .budget = budget, .value = exact};
    EXPECT_EQ(judge(none).outcome, Outcome::kFailed) << given;
  }
  const HostTensor other = tensor_of({4}, DType::kFloat32, {1, 0, 3, 0});
  EXPECT_EQ(judge({.wanted = other.spec, .actual = other, .budget = budget, .value = exact, .open = open}).outcome,
            Outcome::kFailed)
      << "another NaN is due";
}

TEST(JudgeChoices, WhatMayOnlyShrinkMayNotGrow) {
  ErrorBudget budget = budget_of(ErrorBudget::Kind::kElementwise);
  budget.relative = 0.1;
  budget.common = 0.06;
  budget.shrinks = 0.05;
  std::vector<double> exact;
  for (int i = 0; i < 64; ++i) exact.push_back((i % 7 - 3.3) * 1.25);
  const auto times = [&](double factor) {
    std::vector<double> actual;
    for (const double v : exact) actual.push_back(v * factor);
    return judged(exact, actual, DType::kFloat32, budget).outcome;
  };
  EXPECT_EQ(times(0.95), Outcome::kPassed);
  EXPECT_EQ(times(1.005), Outcome::kPassed);
  EXPECT_EQ(times(1.05), Outcome::kFailed);
  EXPECT_EQ(times(0.92), Outcome::kFailed);
}

}  // namespace
}  // namespace opwright
