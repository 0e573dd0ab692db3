#include "perf/exports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "perf/report_for_tests.h"

namespace opwright::perf {
namespace {

TEST(PerfExports, BenchmarkRecordsHaveTheExistingNames) {
  const Report report = made_up_report({{{}, {.op = "UnaryDeviceOperation", .kernel_ns = 300}}});
  json::Document document;
  const auto root = document.parse(benchmark_text(report, "moe_device_perf_decode_seq1"));
  ASSERT_TRUE(root);
  std::map<std::string, std::string> values;
  for (const json::Node& one : *(*root)->find("measurements")) {
    EXPECT_EQ(one.string_field("step_name"), "moe_device_perf_decode_seq1");
    values[std::string(*one.string_field("name"))] = one.find("value")->text;
  }
  EXPECT_EQ(values["total_kernel_duration_us"], "1.3");
  EXPECT_EQ(values["avg_op_to_op_latency_us"], "0.1");
  EXPECT_EQ(values.size(), 4U);
}

TEST(PerfExports, TheTableHasThirteenColumnsAndReadsTheStep) {
  const Report report = made_up_report({{{}, {}}});
  const std::string text = device_perf_csv(report, "moe_device_perf_decode_seq128");
  EXPECT_TRUE(
      text.starts_with("\xEF\xBB\xBF"
                       "artifact_file,step_name,mode,seq_len,"));
  EXPECT_THAT(text, testing::HasSubstr("made_up.csv,moe_device_perf_decode_seq128,decode,128,2,0.1,2.1,"));
  const std::size_t line = text.find('\n') + 1;
  EXPECT_EQ(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(line), ','), 12);
  EXPECT_EQ(std::count(text.begin() + static_cast<std::ptrdiff_t>(line), text.end(), ','), 12);
  EXPECT_THAT(device_perf_csv(report, "PERF_DECODE"), testing::HasSubstr(",PERF_DECODE,,,2,"));
}

TEST(PerfExports, EventsFollowOneAnotherWithTheirGaps) {
  const Report report = made_up_report(
      {{{.kernel_ns = 1000, .gap_ns = 50000}, {.kernel_ns = kNoFigure, .gap_ns = 200}, {.kernel_ns = 400}}});
  json::Document document;
  const auto root = document.parse(chrome_trace_text(report));
  ASSERT_TRUE(root);
  std::vector<std::string> kinds, times;
  for (const json::Node& event : *(*root)->find("traceEvents")) {
    kinds.emplace_back(*event.string_field("ph"));
    if (event.find("ts") != nullptr) times.emplace_back(event.find("ts")->text);
  }
  EXPECT_THAT(kinds, testing::ElementsAre("M", "M", "X", "C", "i", "C", "X"));
  EXPECT_THAT(times, testing::ElementsAre("0", "1", "1.2", "1.2", "1.3"));
  EXPECT_EQ((*root)->find("otherData")->find("rows_without_time")->text, "1");
}

}  // namespace
}  // namespace opwright::perf
