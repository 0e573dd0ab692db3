#include "exec/shared_blame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opwright {
namespace {

using ::testing::HasSubstr;

CaseRecord failure(std::string op, std::string reason) {
  CaseRecord record;
  record.op = std::move(op);
  record.line = record.op + "(x=1)";
  record.outcome = Outcome::kFailed;
  record.reason = std::move(reason);
  return record;
}

TEST(SharedBlame, FailuresOfOneOperationAndMessageShareWhatOneOfThemWasFoundToBe) {
  SharedBlame shared;
  CaseRecord first = failure("ttnn.add", "pcc 0.93 below 0.99");
  EXPECT_EQ(shared.way_of(first), SharedBlame::Way::kRepeat);
  shared.begin(first);
  CaseRecord second = failure("ttnn.add", "pcc 0.81 below 0.99");
  EXPECT_EQ(shared.way_of(second), SharedBlame::Way::kWait);
  shared.wait({.record = second, .line = {}, .past = {}});
  EXPECT_EQ(shared.way_of(failure("ttnn.mul", "pcc 0.81 below 0.99")), SharedBlame::Way::kRepeat);
  EXPECT_EQ(shared.way_of(failure("ttnn.add", "NaN where none is due")), SharedBlame::Way::kRepeat);
  CaseRecord of_reference = second;
  of_reference.second_opinion = Outcome::kFailed;
  EXPECT_EQ(shared.way_of(of_reference), SharedBlame::Way::kRepeat) << "another implementation fails too";

  first.blame = Blame::kOperator;
  first.evidence = "fails again, 9 of 9 times";
  const auto [waited, shares] = shared.end(first);
  ASSERT_EQ(waited.size(), 1U);
  EXPECT_TRUE(shares);
  shared.share(second);
  EXPECT_EQ(second.blame, Blame::kOperator);
  EXPECT_THAT(second.evidence, HasSubstr("shared, not repeated itself"));
  EXPECT_THAT(second.evidence, HasSubstr("ttnn.add(x=1): fails again, 9 of 9 times"));
  EXPECT_EQ(shared.way_of(failure("ttnn.add", "pcc 0.5 below 0.99")), SharedBlame::Way::kShare);
}

TEST(SharedBlame, WhatBelongsToTheMomentIsNotShared) {
  for (const Blame blame : {Blame::kFlaky, Blame::kStateLeak, Blame::kMachine, Blame::kNotReproduced}) {
    SharedBlame shared;
    CaseRecord first = failure("ttnn.add", "crashed");
    shared.begin(first);
    shared.wait({.record = failure("ttnn.add", "crashed"), .line = {}, .past = {}});
    first.blame = blame;
    const auto [waited, shares] = shared.end(first);
    EXPECT_EQ(waited.size(), 1U);
    EXPECT_FALSE(shares);
    EXPECT_EQ(shared.way_of(first), SharedBlame::Way::kRepeat);
  }
}

}  // namespace
}  // namespace opwright
