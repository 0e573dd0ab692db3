#include "jobs/ending.h"

#include <gtest/gtest.h>

namespace opwright::jobs {
namespace {

TEST(Ending, ExitCodesArePromised) {
  EXPECT_EQ(exit_code(Ending::kWell), 0);
  EXPECT_EQ(exit_code(Ending::kDifference), 1);
  EXPECT_EQ(exit_code(Ending::kUsage), 2);
  EXPECT_EQ(exit_code(Ending::kFailed), 3);
  EXPECT_EQ(exit_code(Ending::kInterrupted), 130);
}

TEST(Ending, OnlyWrongUseIsUsage) {
  EXPECT_EQ(ending_of(Error{ErrorCode::kUsage, ""}), Ending::kUsage);
  for (const ErrorCode code : {ErrorCode::kNotFound, ErrorCode::kBadInput, ErrorCode::kNotATrace,
                               ErrorCode::kUnsupported, ErrorCode::kLocked, ErrorCode::kIo})
    EXPECT_EQ(ending_of(Error{code, ""}), Ending::kFailed);
}

TEST(Ending, OfAnImport) {
  ImportReport report;
  EXPECT_EQ(ending_of(report), Ending::kWell) << "a dry run";
  report.refused = true;
  EXPECT_EQ(ending_of(report), Ending::kFailed);
  report.stopped = true;
  EXPECT_EQ(ending_of(report), Ending::kInterrupted);
}

TEST(Ending, OfARun) {
  RunReport report;
  EXPECT_EQ(ending_of(report), Ending::kDifference) << "nothing was passed or accepted";
  report.analysis.undecided = 1;
  EXPECT_EQ(ending_of(report), Ending::kWell);
  report.analysis.passed = 1;
  EXPECT_EQ(ending_of(report), Ending::kWell);
  report.analysis.disagreed = 1;
  EXPECT_EQ(ending_of(report), Ending::kDifference);
  report.analysis.disagreed = 0;
  report.analysis.failed = 1;
  EXPECT_EQ(ending_of(report), Ending::kDifference);
  report.ran.interrupted = true;
  EXPECT_EQ(ending_of(report), Ending::kInterrupted);
  report.end = RunReport::End::kNotBegun;
  EXPECT_EQ(ending_of(report), Ending::kInterrupted);
  for (const auto end : {RunReport::End::kPlanned, RunReport::End::kNothingToResume}) {
    report.end = end;
    EXPECT_EQ(ending_of(report), Ending::kWell);
  }
}

TEST(Ending, OfASingleCase) {
  SingleReport report;
  EXPECT_EQ(ending_of(report), Ending::kDifference) << "what did not run is not well";
  for (const Outcome outcome : {Outcome::kPassed, Outcome::kAccepted}) {
    report.result.outcome = outcome;
    EXPECT_EQ(ending_of(report), Ending::kWell);
  }
  report.record.disagreement = "output 0";
  EXPECT_EQ(ending_of(report), Ending::kDifference);
}

TEST(Ending, OfWhatIsLookedAt) {
  report::Analysis analysis;
  EXPECT_EQ(ending_of(analysis), Ending::kWell);
  analysis.failed = 1;
  EXPECT_EQ(ending_of(analysis), Ending::kDifference);
  SalvageReport salvage;
  EXPECT_EQ(ending_of(salvage), Ending::kWell);
  salvage.lost.emplace_back("a row");
  EXPECT_EQ(ending_of(salvage), Ending::kDifference);
  ConformReport conform;
  EXPECT_EQ(ending_of(conform), Ending::kWell);
  conform.disagreements.emplace_back();
  EXPECT_EQ(ending_of(conform), Ending::kDifference);
}

}  // namespace
}  // namespace opwright::jobs
