#include "perf/report_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perf/config_match.h"
#include "perf/report_diff_json.h"
#include "perf/report_for_tests.h"

namespace opwright::perf {
namespace {

const MadeUpOp kMatmul{};
const MadeUpOp kUnary{.op = "UnaryDeviceOperation", .kernel_ns = 300};
const MadeUpOp kNorm{.op = "LayerNormDeviceOperation", .kernel_ns = 500};

MadeUpOp with(MadeUpOp op, double kernel_ns) {
  op.kernel_ns = kernel_ns;
  return op;
}

std::vector<std::string> changes_of(const ReportDiff& diff) {
  std::vector<std::string> out;
  for (const PositionDiff& one : diff.positions) out.emplace_back(name_of(one.step.change));
  return out;
}

TEST(ReportDiff, NamesWhatWasAddedRemovedAndChanged) {
  MadeUpOp other = kMatmul;
  other.fidelity = "LoFi";
  other.kernel_ns = 700;
  const Report a = made_up_report({{kNorm, kMatmul, kUnary}}), b = made_up_report({{kNorm, kUnary, other}});
  const Report c = made_up_report({{kNorm, other, kUnary, kUnary}});
  const ReportDiff moved = diff_reports(a, b), changed = diff_reports(a, c);
  EXPECT_THAT(changes_of(moved), testing::ElementsAre("same", "removed", "same", "added"));
  EXPECT_EQ(changed.of(Change::kChanged).positions, 1);
  EXPECT_EQ(changed.of(Change::kChanged).kernel_ns, -300);
  EXPECT_EQ(changed.of(Change::kAdded).kernel_ns, 300);
  EXPECT_FALSE(changed.same_operations());
  EXPECT_EQ(changed.kernel.change(), 0);
  const auto fields = fields_of(a, c, changed.positions[1].step);
  ASSERT_EQ(fields.size(), 1U);
  EXPECT_EQ(fields[0].field, "fidelity");
  EXPECT_EQ(fields[0].a, "HiFi2");
  EXPECT_EQ(fields[0].b, "LoFi");
}

TEST(ReportDiff, WhatChangesAddsUpToTheTotal) {
  MadeUpOp other = kMatmul;
  other.memory = "DEV_0_L1_INTERLEAVED";
  other.kernel_ns = 640;
  other.gap_ns = 30;
  const Report a = made_up_report(wobbling({kNorm, kMatmul, kUnary}, 5, 3)),
               b = made_up_report(wobbling({kUnary, kNorm, other, kUnary, with(kUnary, 20)}, 6, 2));
  const ReportDiff diff = diff_reports(a, b);
  double kernel = 0, gaps = 0;
  for (const ChangeSum& one : diff.by_change) {
    kernel += one.kernel_ns;
    gaps += one.gap_ns;
  }
  EXPECT_NEAR(kernel, diff.kernel.change(), 1e-6);
  EXPECT_NEAR(diff.kernel.change(), b.reduced.kernel_ns - a.reduced.kernel_ns, 1e-6);
  // The gap before the first position is compared alone.
  EXPECT_NEAR(diff.op_to_op.change(), b.reduced.op_to_op_ns - a.reduced.op_to_op_ns, 1e-6);
}

TEST(ReportDiff, OneIterationCannotTellAndManyCan) {
  const Report one = made_up_report({{kNorm, kMatmul}}), slow = made_up_report({{kNorm, with(kMatmul, 9000)}});
  EXPECT_EQ(diff_reports(one, slow).kernel.verdict, Verdict::kCannotTell);
  EXPECT_THAT(why_unsure(one, slow, diff_reports(one, slow).kernel), testing::HasSubstr("at least 3"));
  EXPECT_FALSE(diff_reports(one, slow).times_differ());
  const Report a = made_up_report(wobbling({kNorm, kMatmul}, 10, 10)),
               b = made_up_report(wobbling({kNorm, with(kMatmul, 1100)}, 10, 10));
  const ReportDiff diff = diff_reports(a, b);
  EXPECT_EQ(diff.kernel.verdict, Verdict::kSlower);
  EXPECT_EQ(diff.positions[0].kernel.verdict, Verdict::kCannotTell);
  EXPECT_EQ(diff.positions[1].kernel.verdict, Verdict::kSlower);
  EXPECT_LE(diff.kernel.low, 100);
  EXPECT_GE(diff.kernel.high, 100);
  EXPECT_FALSE(diff_reports(a, a).times_differ());
}

TEST(ReportDiff, DevicesAndTheOrderOfAttributesAreNoDifference) {
  MadeUpOp a = kMatmul, b = kMatmul;
  a.attributes = "{'dim': '3'; 'bias': 'no'}";
  b.attributes = "{'bias': 'no'; 'dim': '3'}";
  b.memory = "DEV_7_DRAM_INTERLEAVED";
  b.op = "ttnn::prim::MatmulDeviceOperation";
  EXPECT_TRUE(diff_reports(made_up_report({{a}}), made_up_report({{b}})).same_operations());
  b.attributes = "{'bias': 'yes'; 'dim': '3'}";
  EXPECT_FALSE(diff_reports(made_up_report({{a}}), made_up_report({{b}})).same_operations());
  EXPECT_TRUE(diff_reports(made_up_report({{a}}), made_up_report({{b}}), {"attributes.bias"}).same_operations());
  EXPECT_TRUE(diff_reports(made_up_report({{a}}), made_up_report({{b}}), {"attributes"}).same_operations());
}

TEST(ReportDiff, OfSeveralOperationsOfOneNameTheClosestIsTheChangedOne) {
  MadeUpOp near = kMatmul, far = kMatmul;
  near.fidelity = "LoFi";
  far.fidelity = "LoFi";
  far.dtype = "BFLOAT8_B";
  far.memory = "DEV_0_L1_INTERLEAVED";
  const ReportDiff diff = diff_reports(made_up_report({{kMatmul}}), made_up_report({{far, near}}));
  ASSERT_EQ(diff.positions.size(), 2U);
  EXPECT_EQ(diff.positions[0].step.change, Change::kAdded);
  EXPECT_EQ(diff.positions[1].step.change, Change::kChanged);
  EXPECT_EQ(diff.positions[1].step.b, 1);
}

TEST(ReportDiff, AFigureThatIsMissingIsNotZero) {
  const Report a = made_up_report({{kNorm, kMatmul}}), b = made_up_report({{kNorm, with(kMatmul, kNoFigure)}});
  const ReportDiff diff = diff_reports(a, b);
  EXPECT_EQ(diff.positions[1].kernel.verdict, Verdict::kNoFigures);
  EXPECT_EQ(diff.without_figure, 1);
}

TEST(ConfigMatch, ListsEveryPlaceAndGoesOverTheEndOfAnIteration) {
  const Report part = made_up_report({{kUnary, kNorm}});
  const Report whole =
      made_up_report({{kNorm, kUnary, kNorm, kMatmul, kUnary}, {kNorm, kUnary, kNorm, kMatmul, kUnary}});
  const ConfigMatch match = *match_configs(part, whole, {});
  ASSERT_EQ(match.equal.size(), 2U);
  EXPECT_EQ(match.equal[0].first, 1U);
  EXPECT_FALSE(match.equal[0].wraps);
  EXPECT_EQ(match.equal[1].first, 4U);
  EXPECT_TRUE(match.equal[1].wraps);
}

TEST(ConfigMatch, NamesTheFieldWhereNoPlaceIsEqual) {
  MadeUpOp wide = kUnary, both = kUnary;
  wide.rows = 64;
  both.rows = 64;
  both.dtype = "BFLOAT8_B";
  const Report part = made_up_report({{kNorm, kUnary}}), whole = made_up_report({{kNorm, both, kMatmul, kNorm, wide}});
  const ConfigMatch match = *match_configs(part, whole, {});
  EXPECT_TRUE(match.equal.empty());
  ASSERT_EQ(match.named.size(), 2U);
  EXPECT_EQ(match.named[0].first, 3U) << "the fewest differences first";
  EXPECT_EQ(match.named[0].fields_differing, 2U);
  const auto fields = fields_at(part, whole, match.named[0], 1, {});
  ASSERT_EQ(fields.size(), 2U);
  EXPECT_EQ(fields[0].field, "input 0 logical");
  EXPECT_EQ(fields[0].b, "1x1x64x64");
  EXPECT_EQ(match_configs(part, whole, {"input 0 logical", "input 0 padded"})->equal.size(), 1U);
}

TEST(ConfigMatch, ShowsTheClosestPartWhereNoPlaceHasTheOperations) {
  const Report part = made_up_report({{kNorm, kMatmul, kUnary}});
  const Report whole = made_up_report({{kUnary, kUnary, kNorm, kUnary, kNorm, kNorm}});
  const ConfigMatch match = *match_configs(part, whole, {});
  ASSERT_EQ(match.closest.size(), 3U);
  EXPECT_EQ(match.closest[0].b, 2);
  EXPECT_EQ(match.closest[1].change, Change::kRemoved);
  EXPECT_EQ(match.closest[2].b, 3);
}

}  // namespace
}  // namespace opwright::perf
