#include "jobs/run_single.h"

#include <gtest/gtest.h>

#include "jobs/ending.h"

namespace opwright::jobs {
namespace {

constexpr char kRelu[] = "ttnn.relu(input_tensor=tensor([1,1,32,32] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)))";

TEST(RunSingle, RunsAndJudgesOneCase) {
  const auto report = run_single({.line = kRelu});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->result.outcome, Outcome::kPassed) << report->result.reason;
  EXPECT_EQ(report->device.name, "sim:n150");
  EXPECT_EQ(report->line, kRelu);
  EXPECT_TRUE(report->repeat.starts_with("opwright run --case ")) << report->repeat;
  EXPECT_EQ(ending_of(*report), Ending::kWell);
}

TEST(RunSingle, CheckingComputesNothingAndASecondDeviceIsAsked) {
  const auto report = run_single({.line = kRelu, .choice = {.against = "null", .check = true}});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->result.outcome, Outcome::kAccepted);
  EXPECT_FALSE(report->record.against.empty());
  EXPECT_TRUE(report->repeat.ends_with(" --against null --check")) << report->repeat;
}

TEST(RunSingle, WhatCannotBeReadIsAnError) {
  EXPECT_FALSE(run_single({.line = "ttnn.relu("}));
  EXPECT_FALSE(run_single({.line = kRelu, .choice = {.device = "toaster"}}));
  EXPECT_EQ(run_single({.line = kRelu, .choice = {.data = "pink"}}).error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace opwright::jobs
