#include "fuse/match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dialect/ttnn/transparent_calls.h"
#include "fuse/test_model.h"

namespace opwright::fuse {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

CallGraph graph_of(format::NativeTrace& trace) {
  auto graph = CallGraph::build(trace);
  EXPECT_TRUE(graph) << graph.error().message;
  return *std::move(graph);
}

Result<Matches> find(const CallGraph& graph, std::string_view pattern, std::vector<std::string> phases = {}) {
  Wanted wanted;
  wanted.pattern = *Pattern::parse(pattern);
  wanted.phases = std::move(phases);
  return find_matches(graph, wanted);
}

TEST(CallGraph, KnowsWhoMadeWhatAndWhatComesFirst) {
  TestModel model;
  model.layer(model.tensor());
  auto trace = model.open();
  const CallGraph graph = graph_of(trace);
  ASSERT_EQ(graph.size(), 7U);  // linear, linear, multiply, free, free, linear, add
  EXPECT_EQ(graph.uses(0)[0].maker, kNoNode);
  EXPECT_EQ(graph.uses(2)[0].maker, 0U);
  EXPECT_EQ(graph.uses(2)[1].maker, 1U);
  EXPECT_THAT(std::vector(graph.before(3).begin(), graph.before(3).end()), ElementsAre(0, 2));  // free(gate)
  EXPECT_THAT(std::vector(graph.after(2).begin(), graph.after(2).end()), ElementsAre(3, 4, 5));
  EXPECT_EQ(graph.op(2), "ttnn.multiply");
  EXPECT_FALSE(graph.is_inferred());
}

TEST(CallGraph, AWriteComesAfterWhoReadBefore) {
  TestModel model;
  const std::uint64_t x = model.unary("ttnn.relu", model.tensor());
  model.unary("ttnn.relu", x);
  model.trace.call(model.trace.call_value("ttnn.add_", {native::tensor(model.rows), native::real(1.0)}), {{x, 1}},
                   {.result = model.trace.value(native::tensor(model.rows)),
                    .tensors = {{x, 2, x}},
                    .writes = {{0, model.rows, 2}}});
  model.unary("ttnn.relu", x);
  auto trace = model.open();
  const CallGraph graph = graph_of(trace);
  EXPECT_THAT(std::vector(graph.before(2).begin(), graph.before(2).end()), ElementsAre(0, 1));
  EXPECT_EQ(graph.uses(3)[0].maker, 2U);
}

TEST(CallGraph, TablesOfTransparentCallsAreSorted) {
  EXPECT_TRUE(std::ranges::is_sorted(kShapeNames));
  EXPECT_TRUE(std::ranges::is_sorted(kFreeingCalls));
  EXPECT_TRUE(is_transparent("ttnn.deallocate"));
  EXPECT_TRUE(is_transparent("ttnn.unsqueeze_to_4D"));
  EXPECT_FALSE(is_transparent("ttnn.slice"));
}

TEST(Pattern, CountsGlobsAndNames) {
  const auto pattern = Pattern::parse("linear*2, mul ,slice*");
  ASSERT_TRUE(pattern);
  EXPECT_THAT(pattern->words(), ElementsAre("linear", "linear", "mul", "slice*"));
  const auto meant = pattern->resolve({"ttnn.linear", "ttnn.multiply", "ttnn.slice", "ttnn.slice_write"});
  ASSERT_TRUE(meant) << meant.error().message;
  EXPECT_THAT((*meant)[2], ElementsAre(1U));
  EXPECT_THAT((*meant)[3], ElementsAre(2U, 3U));
  EXPECT_FALSE(Pattern::parse("linear,,add"));
  EXPECT_FALSE(Pattern::parse("linear*0"));
  const auto none = Pattern::parse("linaer")->resolve({"ttnn.linear"});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("did you mean 'ttnn.linear'?"));
  EXPECT_EQ(pattern_of({"ttnn.linear", "ttnn.linear", "ttnn.experimental.rope"}), "linear*2,rope");
}

TEST(Pattern, IsFoundInARowWhateverItsBeginningRepeats) {
  const std::vector<std::vector<std::uint32_t>> wanted{{1}, {1}, {2}};
  EXPECT_THAT(find_in_row({1, 1, 1, 2, 1, 1, 2}, wanted), ElementsAre(1U, 4U));
  EXPECT_THAT(find_in_row({1, 1}, wanted), ElementsAre());
  EXPECT_THAT(find_in_row({1, 3, 2}, {{1}, {2, 3}, {2}}), ElementsAre(0U));
}

TEST(Matches, OfEveryLayerAndInAnotherOrder) {
  TestModel model;
  std::uint64_t x = model.tensor();
  for (const bool up_first : {false, true, false}) x = model.layer(x, up_first);
  auto trace = model.open();
  const CallGraph graph = graph_of(trace);
  const auto found = find(graph, "linear*2,mul,linear");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->places.size(), 3U);
  EXPECT_FALSE(found->is_ambiguous);
  const std::vector<NodeIndex>& second = found->places[1].calls;
  EXPECT_GT(second[0], second[1]);  // gate is made behind up, and is still the first operand of the product
  EXPECT_EQ(graph.uses(second[2])[0].maker, second[0]);
}

TEST(Matches, WhatWouldRunInTheMiddleIsNone) {
  TestModel model;
  const std::uint64_t x = model.unary("ttnn.relu", model.tensor());
  const std::uint64_t y = model.unary("ttnn.exp", x);
  model.add(x, y);
  auto trace = model.open();
  const CallGraph graph = graph_of(trace);
  Wanted wanted;
  wanted.pattern = *Pattern::parse("relu,add");
  const Closed closed = close(graph, {0, 2}, std::vector<bool>(graph.kinds().size()));
  EXPECT_EQ(closed.obstacle, Obstacle::kNotConvex);
  EXPECT_EQ(closed.at, 1U);
  const auto found = find_matches(graph, wanted);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kNotFound);
}

TEST(Matches, PartsThatNothingJoinsAreNone) {
  TestModel model;
  model.unary("ttnn.relu", model.tensor());
  model.unary("ttnn.exp", model.tensor());
  auto trace = model.open();
  const CallGraph graph = graph_of(trace);
  const auto found = find(graph, "relu,exp");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("no tensor joins"));
}

TEST(Matches, DoNotGoOverTheBorderOfAPhase) {
  TestModel model;
  model.phase("prefill");
  const std::uint64_t x = model.unary("ttnn.relu", model.tensor());
  model.phase("decode");
  const std::uint64_t y = model.unary("ttnn.exp", x);
  auto trace = model.open();
  const CallGraph cut = graph_of(trace);
  const auto found = find(cut, "relu,exp");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("in another phase"));
  model.unary("ttnn.exp", model.unary("ttnn.relu", y));
  auto longer = model.open();
  const CallGraph graph = graph_of(longer);
  const auto decode = find(graph, "relu,exp", {"decode"});
  ASSERT_TRUE(decode) << decode.error().message;
  EXPECT_EQ(decode->places.size(), 1U);
}

TEST(Matches, ThatShareCallsAreTold) {
  TestModel model;
  std::uint64_t x = model.tensor();
  for (int i = 0; i < 3; ++i) x = model.unary("ttnn.relu", x);
  auto trace = model.open();
  const CallGraph graph = graph_of(trace);
  const auto found = find(graph, "relu*2");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->places.size(), 1U);
  EXPECT_TRUE(found->is_ambiguous);
  EXPECT_EQ(found->findings.at(0).code, FindingCode::kAmbiguous);
}

TEST(Matches, OfARangeAreFoundElsewhereToo) {
  TestModel model;
  std::uint64_t x = model.tensor();
  x = model.layer(x);
  x = model.layer(x);
  auto trace = model.open();
  const CallGraph graph = graph_of(trace);
  Wanted wanted;
  wanted.first = 1;
  wanted.last = 6;
  const auto found = find_matches(graph, wanted);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->places.size(), 2U);
  EXPECT_EQ(found->places[0].calls.size(), 4U);  // frees are no part of it
}

}  // namespace
}  // namespace opwright::fuse
