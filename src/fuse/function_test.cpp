#include "fuse/function.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuse/controls.h"
#include "fuse/describe.h"
#include "fuse/drift.h"
#include "fuse/quality.h"
#include "fuse/substitute.h"
#include "fuse/suggest.h"
#include "fuse/targets.h"
#include "fuse/test_model.h"

namespace opwright::fuse {
namespace {

using ::testing::HasSubstr;

struct Made {
  explicit Made(const TestModel& model, std::string_view pattern = "linear*2,multiply,linear") : trace(model.open()) {
    graph.emplace(*CallGraph::build(trace));
    Wanted wanted;
    wanted.pattern = *Pattern::parse(pattern);
    const auto matches = find_matches(*graph, wanted);
    EXPECT_TRUE(matches) << matches.error().message;
    replay::KnownCalls known(trace, device->can().board, Layout::kAbsent, true);
    auto described = describe(trace, *graph, *matches, known, "gated_mlp");
    EXPECT_TRUE(described) << described.error().message;
    test = std::move(described->test);
  }
  format::NativeTrace trace;
  std::unique_ptr<Device> device = *open_device("sim:n150");
  std::optional<CallGraph> graph;
  FusedTest test;
};

TestModel two_layers() {
  TestModel model;
  std::uint64_t x = model.tensor();
  x = model.layer(x);
  x = model.layer(x, true);
  model.unary("ttnn.relu", x);
  return model;
}

TEST(Describe, NamesRolesAndBytes) {
  const Made made(two_layers());
  const FusedTest& test = made.test;
  ASSERT_EQ(test.sets.size(), 1U);
  EXPECT_EQ(test.sets[0].matches.size(), 2U);
  EXPECT_EQ(test.pattern, "linear*2,multiply,linear");
  ASSERT_EQ(test.inputs.size(), 4U);
  EXPECT_EQ(test.inputs[0].name, "x");
  EXPECT_EQ(test.inputs[0].role, Role::kActivation);
  EXPECT_EQ(test.inputs[1].name, "linear_1_weight");
  EXPECT_EQ(test.inputs[1].role, Role::kWeight);
  ASSERT_EQ(test.outputs.size(), 1U);
  EXPECT_EQ(test.outputs[0].name, "out");
  EXPECT_TRUE(test.outputs[0].is_read_later);
  EXPECT_EQ(test.calls.size(), 6U);  // with the two frees, which both layers have
  EXPECT_EQ(test.sets[0].internal_bytes, 3 * 32 * 64 * 2);
  const auto again = parse_fused_test(to_json(test), "again");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_json(*again), to_json(test));
}

TEST(UnitTest, AMeasuredExpectationHoldsOnAnotherSeed) {
  Made made(two_layers());
  const auto function = Function::prepare(made.test, made.test.sets[0], made.device->can().board);
  ASSERT_TRUE(function) << function.error().message;
  const UnitTest tested = test_unit(*function, *made.device, made.test.sets[0], 2);
  EXPECT_EQ(tested.trouble, "");
  EXPECT_GE(tested.expected.pcc, kLeastPcc);
  EXPECT_LE(tested.expected.pcc, tested.expected.measured_pcc);
  EXPECT_EQ(tested.measured.size(), 2U);
  EXPECT_EQ(tested.tested.size(), 1U);
}

// The rule: twice the distance from 1, five digits, and never below 0.99.
TEST(UnitTest, TheRuleIsNeverLoosened) {
  const auto expected = [](double pcc) {
    Quality quality;
    quality.outputs.push_back({pcc, 0.0123, 0.0123, true});
    return expect({quality}, {});
  };
  EXPECT_DOUBLE_EQ(expected(0.9999).pcc, 0.9998);
  EXPECT_DOUBLE_EQ(expected(0.999).pcc, 0.998);
  EXPECT_DOUBLE_EQ(expected(0.9).pcc, 0.99);
  EXPECT_DOUBLE_EQ(expected(0.9999).atol, 0.025);
  Quality low;
  low.outputs.push_back({0.9, 0, 0, true});
  EXPECT_THAT(misses(low, expect({low}, {})), HasSubstr("PCC 0.900000 < 0.99"));
}

TEST(Controls, EachMistakeIsNoticed) {
  Made made(two_layers());
  ParameterSet& set = made.test.sets[0];
  set.expected = test_unit(*Function::prepare(made.test, set, made.device->can().board), *made.device, set, 2).expected;
  const std::vector<Control> controls = run_controls(made.test, set, *made.device, 3);
  ASSERT_EQ(controls.size(), 5U);
  for (const Control& control : controls) EXPECT_FALSE(control.is_vacuous()) << control.name << ": " << control.what;
  EXPECT_THAT(controls[3].noticed, HasSubstr("PCC"));  // weights permuted
  EXPECT_THAT(controls[4].skipped, HasSubstr("one chip"));
}

// A bound that lets anything pass is told as vacuous.
TEST(Controls, ATestThatCannotFailIsVacuous) {
  Made made(two_layers());
  ParameterSet& set = made.test.sets[0];
  set.expected = Expected{-2, 1e30, 1, 1, 1};
  const std::vector<Control> controls = run_controls(made.test, set, *made.device, 3);
  EXPECT_TRUE(controls[3].is_vacuous());
}

TEST(Substitution, EveryLaterTensorIsTheSame) {
  Made made(two_layers());
  const auto baseline = run_module(made.trace, *made.device, {});
  ASSERT_TRUE(baseline) << baseline.error().message;
  EXPECT_EQ(baseline->not_run, 0);
  const auto again = run_module(made.trace, *made.device, {});
  EXPECT_EQ(baseline->digest(), again->digest());
  const auto done = substitute(made.trace, *made.graph, made.test, *made.device, {}, *baseline);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->replaced, 2);
  EXPECT_EQ(done->equal, done->compared);
  EXPECT_EQ(done->compared, 2 + 2 + 2);  // outputs of the function; add, add, relu twice
}

TEST(Substitution, AWrongFunctionIsSeen) {
  Made made(two_layers());
  const auto baseline = run_module(made.trace, *made.device, {});
  std::swap(made.test.calls[0].tensors[1], made.test.calls[1].tensors[1]);
  std::swap(made.test.calls[2].tensors[0], made.test.calls[2].tensors[1]);
  made.test.calls[2].tensors[1] = made.test.calls[2].tensors[0];
  const auto done = substitute(made.trace, *made.graph, made.test, *made.device, {}, *baseline);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_LT(done->equal, done->compared);
  EXPECT_THAT(done->first_difference, HasSubstr("tensor #"));
}

TEST(Drift, IsFoundFieldByField) {
  const Made made(two_layers());
  auto same = two_layers().open();
  const auto none = find_drift(same, made.test);
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_FALSE(none->has_drifted());
  EXPECT_EQ(none->equal, 2);
  TestModel other;
  other.square = other.values.spec({1, 1, 64, 64}, "BFLOAT8_B");
  other.layer(other.tensor());
  auto changed = other.open();
  const auto drift = find_drift(changed, made.test);
  ASSERT_TRUE(drift) << drift.error().message;
  ASSERT_TRUE(drift->has_drifted());
  ASSERT_EQ(drift->drifts.size(), 3U);
  EXPECT_EQ(drift->drifts[0].field, "input_tensor_b.dtype");
  EXPECT_EQ(drift->drifts[0].test, "BFLOAT16");
  EXPECT_EQ(drift->drifts[0].trace, "BFLOAT8_B");
  TestModel gone;
  gone.unary("ttnn.relu", gone.tensor());
  auto nothing = gone.open();
  const auto missing = find_drift(nothing, made.test);
  ASSERT_TRUE(missing) << missing.error().message;
  EXPECT_TRUE(missing->has_drifted());
}

TEST(Targets, AreModelledAndAtBestShorter) {
  const Made made(two_layers());
  const auto function = Function::prepare(made.test, made.test.sets[0], made.device->can().board);
  const Targets targets = modelled_targets(*function, made.test.sets[0], made.device->can().board);
  EXPECT_GT(targets.kernel_ns, 0);
  EXPECT_GT(targets.op_to_op_ns, 0);
  EXPECT_GT(targets.roofline_ns, 0);
  EXPECT_LT(targets.roofline_ns, targets.kernel_ns);
  EXPECT_EQ(targets.unmodelled, 0);
}

TEST(Suggest, TheGatedPerceptronOfFourLayersComesFirst) {
  TestModel model;
  std::uint64_t x = model.tensor();
  for (int i = 0; i < 4; ++i) x = model.layer(x, i % 2 == 1);
  auto trace = model.open();
  const auto graph = CallGraph::build(trace);
  OpCosts costs(trace, *graph, *find_board("n150"));
  const SuggestOptions options;
  std::vector<std::vector<Candidate>> candidates{find_candidates(*graph, costs, options)};
  const std::vector<Suggestion> found = group(std::move(candidates), options);
  ASSERT_FALSE(found.empty());
  std::string all;
  for (const Suggestion& one : found) {
    all += one.pattern + "\n";
    for (const Suggestion& variant : one.variants) all += "  " + variant.pattern + "\n";
  }
  EXPECT_THAT(all, HasSubstr("linear*2,multiply,linear\n")) << all;
  for (const Suggestion& one : found)
    if (one.pattern == "linear*2,multiply,linear") {
      EXPECT_EQ(one.matches, 4);
      EXPECT_EQ(one.name, "gated_mlp");
      EXPECT_EQ(one.internal_bytes, 3 * 32 * 64 * 2);
    }
}

}  // namespace
}  // namespace opwright::fuse
