#include "jobs/expected_failure.h"

#include <gtest/gtest.h>

namespace opwright::jobs {
namespace {

Outcome counted(std::string suite, Outcome outcome) {
  CaseRecord record;
  record.suite = std::move(suite);
  record.outcome = outcome;
  return as_expected(record).outcome;
}

TEST(ExpectedFailure, AFailureOfAnXfailSuiteIsExpected) {
  for (const Outcome outcome : {Outcome::kFailed, Outcome::kRefused, Outcome::kOutOfMemory, Outcome::kDeviceError})
    EXPECT_EQ(counted("xfail_shapes", outcome), Outcome::kXfailed) << name_of(outcome);
}

TEST(ExpectedFailure, APassOfAnXfailSuiteIsAFailureWithAReason) {
  CaseRecord record;
  record.suite = "xfail";
  record.outcome = Outcome::kAccepted;
  const CaseRecord turned = as_expected(record);
  EXPECT_EQ(turned.outcome, Outcome::kXpassed);
  EXPECT_EQ(turned.reason, "accepted in a suite that is expected to fail");
  EXPECT_EQ(counted("xfail", Outcome::kPassed), Outcome::kXpassed);
}

TEST(ExpectedFailure, CrashesHangsAndWhatDidNotRunStayWhatTheyAre) {
  for (const Outcome outcome : {Outcome::kCrashed, Outcome::kTimedOut, Outcome::kNotRun, Outcome::kUnsupported})
    EXPECT_EQ(counted("xfail", outcome), outcome) << name_of(outcome);
}

TEST(ExpectedFailure, OtherSuitesAreNotTouched) {
  for (const Outcome outcome : {Outcome::kPassed, Outcome::kFailed, Outcome::kRefused})
    EXPECT_EQ(counted("model_xfail", outcome), outcome) << name_of(outcome);
}

}  // namespace
}  // namespace opwright::jobs
