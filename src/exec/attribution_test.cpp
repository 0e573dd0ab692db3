#include "exec/attribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

namespace opwright {
namespace {

using Step = Attribution::Step;
using Kind = Step::Kind;
using Ended = Attribution::Ended;

FailureFacts facts(Outcome outcome, std::size_t before = 1) {
  FailureFacts facts;
  facts.record.outcome = outcome;
  facts.record.wall_seconds = 0.01;
  for (std::size_t i = 0; i < before; ++i) facts.history.push_back("case " + std::to_string(i + 1) + " before");
  facts.canaries = {"first canary", "second canary"};
  return facts;
}

// Runs the steps to their end; `ends` says how each of them ended.
Attribution attributed(FailureFacts given, const std::function<Ended(Step)>& ends) {
  Attribution attribution(std::move(given));
  for (int steps = 0; steps < 200; ++steps) {
    const auto step = attribution.next();
    if (!step) return attribution;
    attribution.report(ends(*step));
  }
  ADD_FAILURE() << "no end of steps";
  return attribution;
}

Ended passed() { return {Outcome::kPassed, Stage::kEnd, {}}; }
Ended failed(const std::string& why = "") { return {Outcome::kFailed, Stage::kEnd, why}; }

// Canaries pass; every other step fails or not as `fails` says.
Attribution with_good_canaries(FailureFacts given, const std::function<bool(Step)>& fails) {
  const Outcome outcome = given.record.outcome;
  return attributed(std::move(given), [&](Step step) {
    return step.kind == Kind::kCanary || !fails(step) ? passed() : Ended{outcome, Stage::kDevice, ""};
  });
}

// Whether the cases before, as a step runs them, hold number `n` of the history.
bool runs(const Step& step, std::size_t n) {
  return step.kind == Kind::kAfter && n >= step.first && n < step.first + step.count;
}

TEST(Attribution, FailsAloneEveryTimeIsTheOperator) {
  const auto found = with_good_canaries(facts(Outcome::kFailed), [](Step) { return true; });
  EXPECT_EQ(found.blame(), Blame::kOperator);
  EXPECT_EQ(found.evidence(), "fails again, 9 of 9 times alone in a clean process; the canary passes");
}

TEST(Attribution, BadCanariesAreTheMachine) {
  const auto found = attributed(facts(Outcome::kFailed), [](Step) { return failed("2 + 2 is 5"); });
  EXPECT_EQ(found.blame(), Blame::kMachine);
  EXPECT_TRUE(found.canary_failed());
  EXPECT_NE(found.evidence().find("first canary and second canary fail too"), std::string::npos) << found.evidence();
  EXPECT_NE(found.evidence().find("2 + 2 is 5"), std::string::npos);
}

TEST(Attribution, OneBrokenCanaryIsAnOperatorNotTheMachine) {
  const auto found = attributed(facts(Outcome::kFailed), [](Step step) {
    return step.kind == Kind::kCanary && step.first == 1 ? passed() : failed("2 + 2 is 5");
  });
  EXPECT_EQ(found.blame(), Blame::kOperator);
  EXPECT_FALSE(found.canary_failed());
  EXPECT_NE(found.evidence().find("first canary fails too"), std::string::npos) << found.evidence();
  EXPECT_NE(found.evidence().find("second canary passes"), std::string::npos) << found.evidence();
}

TEST(Attribution, ADeviceThatFailsTheCanariesByItselfIsToBlame) {
  const auto found = attributed(facts(Outcome::kTimedOut),
                                [](Step) { return Ended{Outcome::kDeviceError, Stage::kStart, "no hello", true}; });
  EXPECT_EQ(found.blame(), Blame::kDevice);
  EXPECT_TRUE(found.canary_failed());
  EXPECT_NE(found.evidence().find("no hello"), std::string::npos);
}

TEST(Attribution, ABrokenProtocolIsNeverTheOperators) {
  FailureFacts given = facts(Outcome::kDeviceError);
  given.record.blame = Blame::kDevice;
  const auto found = with_good_canaries(given, [](Step) { return true; });
  EXPECT_EQ(found.blame(), Blame::kDevice);
  EXPECT_FALSE(found.canary_failed());
}

TEST(Attribution, OnlyAfterItsPredecessorIsALeak) {
  const auto found = with_good_canaries(facts(Outcome::kFailed), [](Step step) { return runs(step, 0); });
  EXPECT_EQ(found.blame(), Blame::kStateLeak);
  EXPECT_NE(found.evidence().find("the case before it, case 1 before"), std::string::npos) << found.evidence();
}

TEST(Attribution, ALeakFromFurtherBackIsFound) {
  for (const std::size_t before : {2U, 3U, 7U, 64U, 255U}) {
    for (std::size_t culprit = 1; culprit < before; culprit += 1 + before / 9) {
      const auto found =
          with_good_canaries(facts(Outcome::kFailed, before), [&](Step step) { return runs(step, culprit); });
      EXPECT_EQ(found.blame(), Blame::kStateLeak) << culprit << " of " << before;
      const std::string name = "case " + std::to_string(culprit + 1) + " before";
      EXPECT_NE(found.evidence().find(name), std::string::npos) << found.evidence();
      EXPECT_LT(found.attempts(), 25);
    }
  }
}

TEST(Attribution, TwoCasesTogetherAreNamedAsSuch) {
  const auto found =
      with_good_canaries(facts(Outcome::kFailed, 20), [](Step step) { return runs(step, 3) && runs(step, 11); });
  EXPECT_EQ(found.blame(), Blame::kStateLeak);
  EXPECT_NE(found.evidence().find("the 12 cases before it together"), std::string::npos) << found.evidence();
}

TEST(Attribution, TheMereNumberOfCasesIsNamed) {
  const auto found = with_good_canaries(facts(Outcome::kCrashed, 40), [](Step step) { return step.count >= 9; });
  EXPECT_EQ(found.blame(), Blame::kStateLeak);
  EXPECT_NE(found.evidence().find("9 earlier cases in its process, whichever"), std::string::npos) << found.evidence();
}

TEST(Attribution, AFullProcessIsALeakToo) {
  FailureFacts given = facts(Outcome::kHostMemory);
  given.resident_before = 700;
  given.resident_limit = 1000;
  const auto never = [](Step) { return false; };
  EXPECT_EQ(with_good_canaries(given, never).blame(), Blame::kStateLeak);
  given.resident_before = 100;
  EXPECT_EQ(with_good_canaries(given, never).blame(), Blame::kNotReproduced);
}

TEST(Attribution, WhatNeverFailsAgainIsNotCalledFlaky) {
  for (const std::size_t before : {0U, 1U, 30U}) {
    const auto found = with_good_canaries(facts(Outcome::kFailed, before), [](Step) { return false; });
    EXPECT_EQ(found.blame(), Blame::kNotReproduced) << before;
    EXPECT_NE(found.evidence().find("failed once, and never again: 0 of 9 times alone"), std::string::npos)
        << found.evidence();
  }
}

TEST(Attribution, AHistoryThatIsNotRunAgainAsAWholeIsSaid) {
  FailureFacts given = facts(Outcome::kFailed, 30);
  given.ran_before = 900;
  const auto found = with_good_canaries(given, [](Step) { return false; });
  EXPECT_NE(found.evidence().find("after the last 30 of 900 cases that ran before it"), std::string::npos)
      << found.evidence();
}

TEST(Attribution, TheStageTellsTheReference) {
  for (const Outcome outcome : {Outcome::kCrashed, Outcome::kTimedOut}) {
    const auto found = attributed(facts(outcome), [&](Step step) {
      return step.kind == Kind::kCanary ? passed() : Ended{outcome, Stage::kReference, ""};
    });
    EXPECT_EQ(found.blame(), Blame::kReference) << name_of(outcome);
  }
  FailureFacts given = facts(Outcome::kFailed);
  given.record.second_opinion = Outcome::kFailed;
  EXPECT_EQ(with_good_canaries(given, [](Step) { return true; }).blame(), Blame::kReference);
}

TEST(Attribution, SlowCasesAreRepeatedLessOften) {
  FailureFacts given = facts(Outcome::kTimedOut);
  given.record.wall_seconds = 30;
  const auto found = with_good_canaries(given, [](Step) { return true; });
  EXPECT_EQ(found.attempts(), 2);
  EXPECT_EQ(found.blame(), Blame::kOperator);
}

TEST(Attribution, CoinsAreFlaky) {
  std::mt19937 coin(7);
  int wrong = 0;
  constexpr int kCases = 2000;
  for (int i = 0; i < kCases; ++i) {
    const auto found = with_good_canaries(facts(Outcome::kFailed, static_cast<std::size_t>(i % 40)),
                                          [&](Step) { return coin() % 2 == 0; });
    wrong += found.blame() == Blame::kFlaky ? 0 : 1;
  }
  EXPECT_LT(wrong, kCases / 100);
}

}  // namespace
}  // namespace opwright
