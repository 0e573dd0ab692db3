#include "model/perf.h"

#include <gtest/gtest.h>

namespace opwright {
namespace {

TEST(Perf, TimesComeBackAsTheyWere) {
  CasePerf perf;
  perf.trace = true;
  perf.program_cache = true;
  perf.end_to_end = {{100, 200}, {300}};
  perf.host = {{10, 20}, {30}};
  perf.busy = {0.25, 0};
  perf.is_forced = true;
  const auto back = parse_case_perf(to_json(perf));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->end_to_end, perf.end_to_end);
  EXPECT_EQ(back->host, perf.host);
  EXPECT_TRUE(back->device.empty());
  EXPECT_TRUE(back->trace && back->program_cache && back->is_forced && !back->is_modelled);
  EXPECT_EQ(to_json(*back), to_json(perf));
  EXPECT_EQ(&back->main(), &back->end_to_end);
  perf.refused = "no clock";
  EXPECT_EQ(to_json(perf), R"({"refused": "no clock"})");
}

TEST(Perf, GarbageIsNamed) {
  for (const char* text : {"", "[]", "{\"device_ns\": 3}", "{\"device_ns\": [3]}", "{\"host_ns\": [[-1]]}",
                           "{\"end_to_end_ns\": [[\"x\"]]}"})
    EXPECT_FALSE(parse_case_perf(text).has_value()) << text;
}

TEST(Perf, PlansComeBackAndIterationsAreRead) {
  const PerfPlan plan{.device = {1, 2}, .end_to_end = {3, 4}, .rounds = 7, .trace = true, .program_cache = false};
  EXPECT_EQ(to_json(parse_perf_plan(to_json(plan))), to_json(plan));
  EXPECT_EQ(parse_iterations("10+100")->measured, 100);
  EXPECT_EQ(parse_iterations("0+1")->warm_up, 0);
  for (const char* text : {"", "10", "10+", "+10", "10+0", "-1+3", "1+2+3", "1+9999999"})
    EXPECT_FALSE(parse_iterations(text).has_value()) << text;
}

TEST(Perf, FiguresAreOfAllRounds) {
  const auto figures = figures_of({{4, 1}, {3}, {}});
  ASSERT_TRUE(figures.has_value());
  EXPECT_EQ(figures->count, 3);
  EXPECT_DOUBLE_EQ(figures->median, 3);
  EXPECT_DOUBLE_EQ(figures->mean, 8.0 / 3);
  EXPECT_DOUBLE_EQ(figures->least, 1);
  EXPECT_DOUBLE_EQ(figures->most, 4);
  EXPECT_DOUBLE_EQ(median_of({1, 2, 3, 10}), 2.5);
  EXPECT_FALSE(figures_of({{}, {}}).has_value());
}

}  // namespace
}  // namespace opwright
