#include "exec/time_case.h"

#include <gtest/gtest.h>

#include "exec/case_line.h"

namespace opwright {
namespace {

constexpr char kRelu[] = "ttnn.relu(tensor([1,1,64,96] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)))";

TEST(TimeCase, IterationsAreSharedOutAndNoRoundIsEmpty) {
  const PerfPlan plan{.device = {10, 3}, .end_to_end = {10, 100}, .rounds = 7};
  int measured = 0;
  for (int round = 0; round < plan.rounds; ++round) {
    const PerfPlan part = one_round(plan, round);
    measured += part.end_to_end.measured;
    EXPECT_EQ(part.end_to_end.warm_up, 10);
    EXPECT_GE(part.device.measured, 1);
    EXPECT_EQ(part.rounds, 1);
  }
  EXPECT_EQ(measured, 100);
}

TEST(TimeCase, ASimulatedDeviceTellsItsClockAndTheNullDeviceWhyNot) {
  const auto sim = open_device("sim:n150");
  const CasePerf perf = time_case(*parse_case(kRelu), **sim, {}, {});
  ASSERT_TRUE(perf.is_modelled) << perf.refused;
  ASSERT_EQ(perf.device.size(), 1U);
  EXPECT_GT(perf.device[0].at(0), 600);
  EXPECT_TRUE(perf.end_to_end.empty());
  const auto null = open_device("null");
  EXPECT_NE(time_case(*parse_case(kRelu), **null, {}, {}).refused, "");
}

}  // namespace
}  // namespace opwright
