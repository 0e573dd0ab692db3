// The search on an oracle that is a condition: no worker, no device.
#include "shrink/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec/call_condition.h"
#include "model/case_line.h"
#include "shrink/shrink_case.h"

namespace opwright::shrink {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

struct Found {
  std::string line, data;
  std::vector<std::string> needs, before;
  std::int64_t trials = 0;
  bool spent = false;
};

Found shrunk(const std::string& line, std::string_view fault, Budget budget = {}, std::vector<std::string> before = {},
             std::string_view after = "") {
  const CallCondition condition = *parse_condition(fault), earlier = *parse_condition(after);
  const Rules rules(*find_board("n150"));
  Trials trials(
      [&](const Subject& subject) -> Result<Answer> {
        const bool begun = after.empty() || std::ranges::any_of(subject.before, [&](const OpConfig& config) {
                             return holds(earlier, config.op, config.args);
                           });
        EXPECT_TRUE(rules.allow(subject.config)) << case_line(subject.config);
        return begun && holds(condition, subject.config.op, subject.config.args) ? Answer::kFails : Answer::kPasses;
      },
      budget, [] { return 0.0; });
  Subject subject{*parse_case(line), {}, {}};
  for (const std::string& one : before) subject.before.push_back(*parse_case(one));
  const Shrunk result = shrink_case(subject, rules, trials);
  Found found{case_line(result.smallest.config),
              std::string(flag_of(result.smallest.recipe.distribution)),
              {},
              {},
              trials.run(),
              trials.spent()};
  for (const Needed& needed : result.needs) found.needs.push_back(to_text(needed.need));
  for (const OpConfig& one : result.smallest.before) found.before.push_back(case_line(one));
  return found;
}

constexpr char kDram[] = " DEVICE memory(DRAM INTERLEAVED))";

std::string tensor(const std::string& shape, const std::string& kind = "BFLOAT16 TILE") {
  return "tensor([" + shape + "] " + kind + kDram;
}

TEST(Search, WhateverFailsAlwaysBecomesTheLeastOfAll) {
  const Found found = shrunk(
      "ttnn.relu(input_tensor=" + tensor("2,3,64,96", "BFLOAT8_B TILE") + ", memory_config=memory(L1 INTERLEAVED))",
      "ttnn.relu");
  EXPECT_EQ(found.line, "ttnn.relu(input_tensor=" + tensor("1") + ")");
  EXPECT_EQ(found.data, "zeros");
  EXPECT_THAT(found.needs, ElementsAre());
  EXPECT_LE(found.trials, 20);
}

TEST(Search, AThresholdIsFoundToTheElement) {
  const Found found = shrunk("ttnn.matmul(input_tensor_a=" + tensor("1,1,64,4096") +
                                 ", input_tensor_b=" + tensor("1,1,4096,128", "BFLOAT8_B TILE") + ")",
                             "ttnn.matmul and input_tensor_a[-1] > 2048 and input_tensor_b.dtype = BFLOAT8_B");
  EXPECT_THAT(found.needs, UnorderedElementsAre("input_tensor_a[-1] > 2048", "input_tensor_b.dtype = BFLOAT8_B"));
  EXPECT_THAT(found.line, testing::HasSubstr("tensor([2049,1] BFLOAT8_B"));
  EXPECT_LE(found.trials, 60);
}

TEST(Search, ATailTileIsNoThreshold) {
  const Found found =
      shrunk("ttnn.add(input_tensor_a=" + tensor("1,1,64,70") + ", input_tensor_b=" + tensor("1,1,64,70") + ")",
             "ttnn.add and input_tensor_a[-1] % 32 != 0");
  EXPECT_THAT(found.needs, ElementsAre("input_tensor_a[-1] % 32 != 0"));
}

TEST(Search, WhatIsPlainAlreadyCanBeNeeded) {
  EXPECT_THAT(shrunk("ttnn.abs(input_tensor=" + tensor("1,1,64,96") + ")", "input_tensor.layout = TILE").needs,
              ElementsAre("input_tensor.layout = TILE"));
  EXPECT_THAT(shrunk("ttnn.abs(input_tensor=" + tensor("1,1,64,96") + ")", "input_tensor.buffer = DRAM").needs,
              ElementsAre("input_tensor.buffer = DRAM"));
}

TEST(Search, BroadcastingIsTwoNeeds) {
  const Found found =
      shrunk("ttnn.add(input_tensor_a=" + tensor("1,1,64,96") + ", input_tensor_b=" + tensor("1,1,1,96") + ")",
             "input_tensor_a[-2] > 1 and input_tensor_b[-2] = 1");
  EXPECT_THAT(found.needs, UnorderedElementsAre("input_tensor_a[-2] > 1", "input_tensor_b[-2] = 1"));
}

TEST(Search, ShardsFollowTheShape) {
  const Found found = shrunk(
      "ttnn.relu(input_tensor=tensor([1,1,256,64] BFLOAT16 TILE DEVICE memory(L1 HEIGHT_SHARDED shard [32,64] on "
      "(0,0)-(7,0) ROW_MAJOR)))",
      "input_tensor.memory = HEIGHT_SHARDED and input_tensor.cores > 3");
  EXPECT_THAT(found.needs, UnorderedElementsAre("input_tensor.memory = HEIGHT_SHARDED", "input_tensor.cores > 3"));
  EXPECT_THAT(found.line, testing::HasSubstr("(0,0)-(3,0)"));
}

// Fails where a number of an input is larger: the data is what the rules draw.
Found shrunk_data(const std::string& line, const std::string& input, float limit, std::string_view fault) {
  const CallCondition condition = *parse_condition(fault);
  const Rules rules(*find_board("n150"));
  Trials trials(
      [&](const Subject& asked) -> Result<Answer> {
        if (!holds(condition, asked.config.op, asked.config.args)) return Answer::kPasses;
        for (const Rules::Input& one : rules.inputs_of(asked.config))
          for (std::int64_t i = 0; one.name == input && i < one.elements; ++i)
            if (rules.drawn(asked.config, asked.recipe, input, i).value_or(0) > limit) return Answer::kFails;
        return Answer::kPasses;
      },
      {}, [] { return 0.0; });
  const Shrunk result = shrink_case({*parse_case(line), {}, {}}, rules, trials);
  Found found{
      case_line(result.smallest.config), data_text(result.smallest.recipe), {}, {}, trials.run(), trials.spent()};
  for (const Needed& needed : result.needs) found.needs.push_back(to_text(needed.need));
  return found;
}

TEST(Search, ANumberIsFoundAndBroughtDown) {
  const Found found =
      shrunk_data("ttnn.add(input_tensor_a=" + tensor("1,1,8,16") + ", input_tensor_b=" + tensor("1,1,8,16") + ")",
                  "input_tensor_b", 1, "ttnn.add and input_tensor_a[-1] > 3");
  EXPECT_THAT(found.needs, UnorderedElementsAre("input_tensor_b.value > 1", "input_tensor_a[-1] > 3"));
  EXPECT_EQ(found.data, "integers:input_tensor_b@0=2");
  EXPECT_THAT(found.line, testing::HasSubstr("tensor([4]"));
}

TEST(Search, OfAnOrderThePlaceThatMattersIsSaid) {
  const std::string line = "ttnn.permute(input_tensor=" + tensor("1,4,64,96") + ", dims=[0,2,1,3])";
  EXPECT_THAT(shrunk(line, "dims#1 = 2").needs, ElementsAre("dims#1 = 2"));
  EXPECT_THAT(shrunk(line, "dims#0 = 0 and dims#3 = 3").needs, UnorderedElementsAre("dims#0 = 0", "dims#3 = 3"));
  EXPECT_THAT(shrunk(line, "dims = [0,2,1,3]").needs, ElementsAre("dims = [0,2,1,3]"));
  EXPECT_THAT(shrunk(line, "ttnn.permute").needs, ElementsAre());
}

TEST(Search, OfAListTheLastItemStandsForItsLength) {
  const std::string one = tensor("1,1,32,64");
  const std::string line = "ttnn.concat(tensors=[" + one + "," + one + "," + one + "], dim=2)";
  EXPECT_THAT(shrunk(line, "tensors#2 passed").needs, ElementsAre("tensors#2 passed"));
}

TEST(Search, TilesAndPlacementsAreMadePlain) {
  const std::string line =
      "ttnn.abs(input_tensor=tensor([1,1,64,96] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED) tile [16,32] placed "
      "[Shard(3),Replicate] over [2,4] of mesh [2,4]))";
  EXPECT_EQ(shrunk(line, "ttnn.abs").line, "ttnn.abs(input_tensor=" + tensor("1") + ")");
  EXPECT_THAT(shrunk(line, "input_tensor.tile = 16x32").needs, ElementsAre("input_tensor.tile = 16x32"));
  EXPECT_THAT(shrunk(line, "input_tensor.placement = Shard(3),Replicate").needs,
              ElementsAre("input_tensor.placement = Shard(3),Replicate"));
}

TEST(Search, TheShortestSequenceIsLeft) {
  const std::string good = "ttnn.neg(input_tensor=" + tensor("1,1,32,32") + ")";
  const std::string maker = "ttnn.exp(input_tensor=" + tensor("1,1,64,96") + ")";
  const Found found = shrunk("ttnn.relu(input_tensor=" + tensor("1,1,64,96") + ")", "ttnn.relu", {},
                             {good, good, maker, good, good, good}, "ttnn.exp");
  EXPECT_THAT(found.before, ElementsAre("ttnn.exp(input_tensor=" + tensor("1") + ")"));
}

TEST(Search, TwoCasesThatAreNeededBothStay) {
  // Both of two: the condition on the earlier ones counts them.
  const OpConfig subject = *parse_case("ttnn.relu(input_tensor=" + tensor("1,1,32,32") + ")");
  const OpConfig good = *parse_case("ttnn.neg(input_tensor=" + tensor("1,1,32,32") + ")");
  const OpConfig half = *parse_case("ttnn.exp(input_tensor=" + tensor("1,1,32,32") + ")");
  Trials trials(
      [&](const Subject& asked) -> Result<Answer> {
        const auto halves = std::ranges::count(asked.before, "ttnn.exp", &OpConfig::op);
        return halves >= 2 ? Answer::kFails : Answer::kPasses;
      },
      {}, [] { return 0.0; });
  const Shrunk found = shrink_case({subject, {}, {good, half, good, good, half, good, good}}, Rules(), trials);
  EXPECT_EQ(found.smallest.before.size(), 2U);
}

TEST(Search, TheBudgetEndsIt) {
  const Found found =
      shrunk("ttnn.matmul(input_tensor_a=" + tensor("1,1,64,4096") + ", input_tensor_b=" + tensor("1,1,4096,128") + ")",
             "input_tensor_a[-1] > 2048", {.trials = 5});
  EXPECT_TRUE(found.spent);
  EXPECT_EQ(found.trials, 5);
}

TEST(Trials, AnErrorEndsItAndIsKept) {
  Trials trials([](const Subject&) -> Result<Answer> { return fail(ErrorCode::kIo, "no worker"); }, {},
                [] { return 0.0; });
  const Subject subject{*parse_case("ttnn.relu(input_tensor=" + tensor("1,1,64,96") + ")"), {}, {}};
  const Shrunk found = shrink_case(subject, Rules(), trials);
  EXPECT_EQ(case_line(found.smallest.config), case_line(subject.config));
  EXPECT_EQ(trials.run(), 1);
  ASSERT_TRUE(trials.error());
  EXPECT_EQ(trials.error()->message, "no worker");
}

}  // namespace
}  // namespace opwright::shrink
