#include "perf/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perf/report_for_tests.h"

namespace opwright::perf {
namespace {

const Report& report() {
  static const Report kReport = made_up_report({{{}, {.op = "UnaryDeviceOperation", .kernel_ns = 300}, {}}});
  return kReport;  // kernel 2300, op to op 200
}

std::map<std::string, std::string> outcomes(const std::string& text, bool allow_missing = false) {
  const auto targets = parse_targets(text, "t.yaml");
  if (!targets) return {{"error", targets.error().message}};
  std::map<std::string, std::string> out;
  for (const GateCheck& one : check_window(figures_of(report(), targets->statistic), targets->windows.at(0),
                                           allow_missing || targets->ignore_missing, targets->ignore_incomplete))
    out[one.op + (one.op.empty() ? "" : ".") + one.figure] = name_of(one.outcome);
  return out;
}

std::string outcome(const std::string& kernel) {
  return outcomes("windows: {'*': {op_to_op_ns: 200, kernel_ns: " + kernel + "}}")["kernel_ns"];
}

TEST(Gate, MarginsAreTheLargerOfShareAndTime) {
  EXPECT_EQ(outcome("2300"), "passed");
  EXPECT_EQ(outcome("2091"), "passed") << "10 percent is what is usual";
  EXPECT_EQ(outcome("2090"), "too_high");
  EXPECT_EQ(outcome("{target: 2200, margin_percent: 3}"), "too_high");
  EXPECT_EQ(outcome("{target: 2200, margin_percent: 3, margin_ns: 500}"), "passed");
  EXPECT_EQ(outcome("{target: 9000}"), "passed") << "faster is no failure";
  EXPECT_EQ(outcome("{target: 9000, sides: both}"), "too_low");
}

TEST(Gate, WhatIsMissingFailsUnlessSomebodySaysOtherwise) {
  EXPECT_EQ(outcome("null"), "no_target");
  EXPECT_EQ(outcome("unchecked"), "unchecked");
  EXPECT_EQ(outcomes("windows: {'*': {kernel_ns: 2300}}")["op_to_op_ns"], "no_target");
  EXPECT_EQ(outcomes("windows: {'*': {kernel_ns: 2300}}", true)["op_to_op_ns"], "unchecked");
  EXPECT_EQ(outcomes("{missing: ignore, windows: {'*': {kernel_ns: 2300}}}")["op_to_op_ns"], "unchecked");
  const auto ops = outcomes(
      "windows: {'*': {kernel_ns: 2300, op_to_op_ns: 200, ops: {UnaryDeviceOperation: {kernel_ns: 300}, Gone: "
      "{kernel_ns: 5}}}}");
  EXPECT_EQ(ops.at("UnaryDeviceOperation.kernel_ns"), "passed");
  EXPECT_EQ(ops.at("UnaryDeviceOperation.op_to_op_ns"), "no_target");
  EXPECT_EQ(ops.at("MatmulDeviceOperation.kernel_ns"), "no_target");
  EXPECT_EQ(ops.at("Gone.kernel_ns"), "no_figure");
  EXPECT_EQ(outcomes("windows: {'*': {kernel_ns: 2300, op_to_op_ns: 200, positions: 4}}")["positions"],
            "other_sequence");
}

TEST(Gate, AReportThatLacksTimesFails) {
  const Report partial = made_up_report({{{}, {.op = "UnaryDeviceOperation", .kernel_ns = kNoFigure}}});
  const auto targets = parse_targets("windows: {'*': {kernel_ns: 9000, op_to_op_ns: 9000}}", "t.yaml");
  const auto checks = check_window(figures_of(partial, Statistic::kMean), targets->windows[0], false, false);
  EXPECT_EQ(checks.at(0).outcome, GateOutcome::kIncomplete);
  EXPECT_EQ(check_window(figures_of(partial, Statistic::kMean), targets->windows[0], false, true).at(0).outcome,
            GateOutcome::kUnchecked);
}

TEST(Gate, WhatIsWrittenPassesInBothFormats) {
  for (const bool yaml : {true, false}) {
    const std::string text = targets_text({figures_of(report(), Statistic::kMean)}, 0, yaml);
    for (const auto& [what, outcome] : outcomes(text)) EXPECT_EQ(outcome, "passed") << what << "\n" << text;
    EXPECT_EQ(outcomes(text).size(), 7U) << text;
  }
}

TEST(Targets, ErrorsSayWhere) {
  const auto error = [](const std::string& text) { return outcomes(text)["error"]; };
  EXPECT_THAT(error("windows: {'*': {kernel: 5}}"), testing::HasSubstr("kernel_ns"));
  EXPECT_THAT(error("windows:\n  '*':\n    kernel_ns: fast\n"), testing::StartsWith("t.yaml, line 3, column 16"));
  EXPECT_THAT(error("windows: {'*': {kernel_ns: 5, kernel_ns: 6}}"), testing::HasSubstr("stands twice"));
  EXPECT_THAT(error("windows: {'*': {kernel_ns: -5}}"), testing::HasSubstr("0 or more"));
  EXPECT_THAT(error("windows: {'*': {kernel_ns: nan}}"), testing::HasSubstr("0 or more"));
  EXPECT_THAT(error("version: 2\nwindows: {'*': {}}"), testing::HasSubstr("reads 1"));
  EXPECT_THAT(error("[1, 2"), testing::StartsWith("t.yaml, line"));
  EXPECT_THAT(error("statistic: fastest\nwindows: {'*': {}}"), testing::HasSubstr("mean or median or min"));
  EXPECT_THAT(error(std::string(100000, '[')), testing::HasSubstr("deeper"));
  EXPECT_THAT(error(""), testing::StartsWith("t.yaml"));
  EXPECT_THAT(error("windows: 3"), testing::HasSubstr("names of windows"));
}

}  // namespace
}  // namespace opwright::perf
