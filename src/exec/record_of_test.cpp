#include "exec/record_of.h"

#include <gtest/gtest.h>

namespace opwright {
namespace {

TEST(RecordOf, TheUlpIsNotThatOfElementsNearZero) {
  CaseResult result;
  Verdict verdict;
  verdict.metrics.compared = 1000;
  verdict.metrics.ulp_max = 8.5e37;
  verdict.metrics.ulp_p99 = 2;
  result.verdicts = {verdict};
  CaseRecord record;
  fill_record(result, {}, record);
  EXPECT_EQ(record.ulp, 2);
}

TEST(RecordOf, AGoldenFunctionDisagreesOrHasNoOpinion) {
  CaseRecord record;
  fill_golden({.outcome = Outcome::kFailed, .reason = "far off"}, record);
  EXPECT_EQ(record.against, "failed");
  EXPECT_EQ(record.disagreement, "golden function: far off");
  EXPECT_EQ(record.notes, "");
  CaseRecord other;
  other.notes = "a note";
  fill_golden({.outcome = Outcome::kUnsupported, .reason = "none"}, other);
  EXPECT_EQ(other.disagreement, "");
  EXPECT_EQ(other.notes, "a note; golden function: none");
}

}  // namespace
}  // namespace opwright
