#include "exec/attribution.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace opwright {
namespace {

using Step = Attribution::Step;

FailureFacts facts(Outcome outcome, bool predecessor = true) {
  FailureFacts facts;
  facts.record.outcome = outcome;
  facts.record.wall_seconds = 0.01;
  facts.has_predecessor = predecessor;
  return facts;
}

// Runs the steps to their end; `ends` says how each of them ended.
Attribution attributed(FailureFacts given, const std::function<Attribution::Ended(Step)>& ends) {
  Attribution attribution(std::move(given));
  for (int steps = 0; steps < 100; ++steps) {
    const auto step = attribution.next();
    if (!step) return attribution;
    attribution.report(ends(*step));
  }
  ADD_FAILURE() << "no end of steps";
  return attribution;
}

constexpr Attribution::Ended passed() { return {Outcome::kPassed, Stage::kEnd, {}}; }

TEST(Attribution, FailsAloneEveryTimeIsTheOperator) {
  const auto found = attributed(facts(Outcome::kFailed), [](Step step) {
    return step == Step::kCanary ? passed() : Attribution::Ended{Outcome::kFailed, Stage::kEnd, ""};
  });
  EXPECT_EQ(found.blame(), Blame::kOperator);
  EXPECT_EQ(found.evidence(), "fails again, 9 of 9 times alone in a clean process; the canary passes");
}

TEST(Attribution, ABadCanaryIsTheMachine) {
  const auto found = attributed(facts(Outcome::kFailed),
                                [](Step) { return Attribution::Ended{Outcome::kFailed, Stage::kEnd, "2 + 2 is 5"}; });
  EXPECT_EQ(found.blame(), Blame::kMachine);
  EXPECT_NE(found.evidence().find("2 + 2 is 5"), std::string::npos);
}

TEST(Attribution, ADeviceThatFailsTheCanaryByItselfIsToBlame) {
  const auto found = attributed(facts(Outcome::kTimedOut), [](Step) {
    return Attribution::Ended{Outcome::kDeviceError, Stage::kStart, "no hello", true};
  });
  EXPECT_EQ(found.blame(), Blame::kDevice);
  EXPECT_TRUE(found.canary_failed());
  EXPECT_NE(found.evidence().find("no hello"), std::string::npos);
}

TEST(Attribution, ABrokenProtocolIsNeverTheOperators) {
  FailureFacts given = facts(Outcome::kDeviceError);
  given.record.blame = Blame::kDevice;
  const auto found = attributed(given, [](Step step) {
    return step == Step::kCanary ? passed() : Attribution::Ended{Outcome::kDeviceError, Stage::kDevice, "", true};
  });
  EXPECT_EQ(found.blame(), Blame::kDevice);
  EXPECT_FALSE(found.canary_failed());
}

TEST(Attribution, OnlyAfterItsPredecessorIsALeak) {
  const auto found = attributed(facts(Outcome::kFailed), [](Step step) {
    return step == Step::kAfterPredecessor ? Attribution::Ended{Outcome::kFailed, Stage::kEnd, ""} : passed();
  });
  EXPECT_EQ(found.blame(), Blame::kStateLeak);
}

TEST(Attribution, AFullProcessIsALeakToo) {
  FailureFacts given = facts(Outcome::kHostMemory);
  given.resident_before = 700;
  given.resident_limit = 1000;
  EXPECT_EQ(attributed(given, [](Step) { return passed(); }).blame(), Blame::kStateLeak);
  given.resident_before = 100;
  EXPECT_EQ(attributed(given, [](Step) { return passed(); }).blame(), Blame::kFlaky);
}

TEST(Attribution, TheStageTellsTheReference) {
  for (const Outcome outcome : {Outcome::kCrashed, Outcome::kTimedOut}) {
    const auto found = attributed(facts(outcome), [&](Step step) {
      return step == Step::kCanary ? passed() : Attribution::Ended{outcome, Stage::kReference, ""};
    });
    EXPECT_EQ(found.blame(), Blame::kReference) << name_of(outcome);
  }
  FailureFacts given = facts(Outcome::kFailed);
  given.record.second_opinion = Outcome::kFailed;
  const auto found = attributed(given, [](Step step) {
    return step == Step::kCanary ? passed() : Attribution::Ended{Outcome::kFailed, Stage::kEnd, ""};
  });
  EXPECT_EQ(found.blame(), Blame::kReference);
}

TEST(Attribution, SlowCasesAreRepeatedLessOften) {
  FailureFacts given = facts(Outcome::kTimedOut);
  given.record.wall_seconds = 30;
  const auto found = attributed(given, [](Step step) {
    return step == Step::kCanary ? passed() : Attribution::Ended{Outcome::kTimedOut, Stage::kDevice, ""};
  });
  EXPECT_EQ(found.attempts(), 2);
  EXPECT_EQ(found.blame(), Blame::kOperator);
}

TEST(Attribution, CoinsAreFlaky) {
  std::mt19937 coin(7);
  int wrong = 0;
  constexpr int kCases = 2000;
  for (int i = 0; i < kCases; ++i) {
    const auto found = attributed(facts(Outcome::kFailed), [&](Step step) {
      return step == Step::kCanary || coin() % 2 == 0 ? passed()
                                                      : Attribution::Ended{Outcome::kFailed, Stage::kEnd, ""};
    });
    wrong += found.blame() == Blame::kFlaky ? 0 : 1;
  }
  EXPECT_LT(wrong, kCases / 100);
}

}  // namespace
}  // namespace opwright
