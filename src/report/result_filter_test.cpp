#include "report/result_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/test_records.h"

namespace opwright::report {
namespace {

using ::testing::HasSubstr;

TEST(ResultFilter, OfOneKindAnyOfAllKindsEach) {
  CaseRecord record = record_of(0, Outcome::kTimedOut, "ttnn.experimental.rotary_embedding");
  record.models = "bert, resnet";
  const auto matches = [&](ResultFilter filter) { return filter.matches(record); };
  EXPECT_TRUE(matches({}));
  EXPECT_TRUE(matches({.ops = {"rotary_embedding"}}));
  EXPECT_TRUE(matches({.ops = {"add", "experimental.rotary_embedding"}}));
  EXPECT_FALSE(matches({.ops = {"embedding"}}));
  EXPECT_TRUE(matches({.outcomes = {"failure"}}));
  EXPECT_TRUE(matches({.outcomes = {"passed", "timed_out"}}));
  EXPECT_FALSE(matches({.outcomes = {"failed"}}));
  EXPECT_TRUE(matches({.models = {"resnet"}}));
  EXPECT_FALSE(matches({.models = {"res"}}));
  EXPECT_FALSE(matches({.ops = {"rotary_embedding"}, .outcomes = {"passed"}}));
}

TEST(ResultFilter, OnlyRealDisagreementsDisagree) {
  const auto disagrees = [](Outcome here, const char* there, const char* difference) {
    CaseRecord record = record_of(0, here, "ttnn.add");
    record.against = there;
    record.disagreement = difference;
    return ResultFilter{.disagreeing = true}.matches(record);
  };
  EXPECT_TRUE(disagrees(Outcome::kPassed, "refused", "outcome"));
  EXPECT_FALSE(disagrees(Outcome::kPassed, "passed", ""));
  EXPECT_FALSE(disagrees(Outcome::kPassed, "unsupported", "as an older program wrote it"));
  EXPECT_FALSE(disagrees(Outcome::kLost, "accepted", "as an older program wrote it"));
  EXPECT_FALSE(disagrees(Outcome::kPassed, "", ""));
}

TEST(ResultFilter, WhatMatchesNothingIsAnErrorThatHelps) {
  const std::vector<CaseRecord> records{record_of(0, Outcome::kPassed, "ttnn.add")};
  const auto none = filtered(stream_of(records), {.ops = {"ad"}, .models = {"efficientnet"}});
  const Status status = none([](CaseRecord&&) { return Status(); });
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("it has no operation 'ad'; did you mean 'ttnn.add'?"));
  EXPECT_THAT(status.error().message, HasSubstr("no model 'efficientnet'; did you mean 'efficientnetb0'?"));
  EXPECT_THAT((ResultFilter{.outcomes = {"pased"}}.check().error().message), HasSubstr("did you mean 'passed'"));
  EXPECT_TRUE((ResultFilter{.outcomes = {"failure", "lost"}}.check()));
}

}  // namespace
}  // namespace opwright::report
