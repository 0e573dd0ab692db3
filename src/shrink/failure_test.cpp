#include "shrink/failure.h"

#include <gtest/gtest.h>

namespace opwright::shrink {
namespace {

CaseRecord ended(Outcome outcome, std::string reason) {
  CaseRecord record;
  record.op = "ttnn.add";
  record.outcome = outcome;
  record.reason = std::move(reason);
  record.judged = 1;
  return record;
}

TEST(Failure, IsTheSameWhateverItsNumbers) {
  const auto kind = failure_of(ended(Outcome::kRefused, "shape [1, 32] of 3 tensors\nbacktrace: x"));
  ASSERT_TRUE(kind);
  EXPECT_TRUE(kind->is_refusal());
  EXPECT_EQ(compare(ended(Outcome::kRefused, "shape [1, 1, 64] of 7 tensors"), *kind), Answer::kFails);
  EXPECT_EQ(compare(ended(Outcome::kRefused, "no kernel"), *kind), Answer::kOther);
  EXPECT_EQ(compare(ended(Outcome::kCrashed, "shape [1, 32] of 3 tensors"), *kind), Answer::kOther);
  EXPECT_EQ(compare(ended(Outcome::kPassed, ""), *kind), Answer::kPasses);
  EXPECT_EQ(compare(ended(Outcome::kAccepted, ""), *kind), Answer::kPasses);
  EXPECT_EQ(compare(ended(Outcome::kNotRun, ""), *kind), Answer::kOther);
}

TEST(Failure, WhichFigureShowsWrongValuesDoesNotMatter) {
  const auto kind = failure_of(ended(Outcome::kFailed, "output 0: PCC 0.5 below 0.99"));
  ASSERT_TRUE(kind);
  EXPECT_EQ(compare(ended(Outcome::kFailed, "output 0: 3 of 4 elements are beyond their bound"), *kind),
            Answer::kFails);
  EXPECT_EQ(compare(ended(Outcome::kFailed, "output 0: NaN or infinity: 3 elements disagree"), *kind), Answer::kOther);
  EXPECT_EQ(compare(ended(Outcome::kFailed, "output 0: shape [1] instead of [2]"), *kind), Answer::kOther);
}

TEST(Failure, LastWordsOfAProcessDoNotMatter) {
  const auto kind = failure_of(ended(Outcome::kCrashed, "its process ended with signal 11 in the device: one"));
  ASSERT_TRUE(kind);
  EXPECT_EQ(compare(ended(Outcome::kCrashed, "its process ended with signal 11 in the device: two"), *kind),
            Answer::kFails);
}

TEST(Failure, AnEmptyOutputShowsNothing) {
  const auto kind = failure_of(ended(Outcome::kFailed, "output 0: PCC 0.5 below 0.99"));
  CaseRecord empty = ended(Outcome::kMistrusted, "nothing to compare: the output is empty");
  empty.judged = 0;
  EXPECT_EQ(compare(empty, *kind), Answer::kOther);
}

TEST(Failure, OfTwoDevicesIsTheirDisagreement) {
  CaseRecord record = ended(Outcome::kPassed, "");
  EXPECT_FALSE(failure_of(record));
  record.against = "refused";
  record.disagreement = "null: passed here, refused (dimension 3) there";
  const auto kind = failure_of(record);
  ASSERT_TRUE(kind);
  EXPECT_TRUE(kind->is_refusal());
  record.disagreement = "null: passed here, refused (dimension 7) there";
  EXPECT_EQ(compare(record, *kind), Answer::kFails);
  EXPECT_EQ(compare(ended(Outcome::kPassed, ""), *kind), Answer::kPasses);
  CaseRecord both = ended(Outcome::kRefused, "no such thing");
  both.against = "refused";
  EXPECT_FALSE(failure_of(both));  // they agree, and nothing was computed
  EXPECT_EQ(compare(both, *kind), Answer::kOther);
}

}  // namespace
}  // namespace opwright::shrink
