#include "exec/recorded_return.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "dialect/ttnn/tensor_layout.h"
#include "model/test_tensors.h"

namespace opwright {
namespace {

using ::testing::HasSubstr;
using Specs = std::vector<OutputSpec>;

OutputSpec made(Shape shape = {1, 1, 32, 64}) { return output_spec(tensor(std::move(shape))); }

OutputSpec in_l1() {
  OutputSpec out = made();
  out.spec.memory->buffer.value = BufferType::kL1;
  return out;
}

OutputSpec sharded_over(std::int64_t cores) {
  OutputSpec out = made();
  out.spec.memory = sharded_memory(MemoryLayout::kHeightSharded, shard({32, 64}, {{{0, 0}, {cores - 1, 0}}}));
  return out;
}

std::vector<RecordedReturn> recorded(Specs outputs, std::int64_t calls = 3) {
  for (OutputSpec& output : outputs) output.padded.clear();
  return {{std::move(outputs), calls, "n150"}};
}

TEST(RecordedReturn, WhoAgreesWithTheTraceIsRight) {
  const Specs right{made()}, other{in_l1()};
  const auto said = recorded(right);
  EXPECT_EQ(judge_returned({&right, &right, said, "n150"}).outcome, Outcome::kPassed);
  EXPECT_EQ(judge_returned({nullptr, &right, said, "n150"}).outcome, Outcome::kPassed);

  const SpecVerdict device = judge_returned({&right, &other, said, "n150"});
  EXPECT_EQ(device.outcome, Outcome::kFailed);
  EXPECT_EQ(device.reason, "output 0 memory: recorded memory(DRAM INTERLEAVED), came memory(L1 INTERLEAVED)");
  EXPECT_EQ(device.evidence, "3 calls of the traces returned so on n150, and the rules here promise the same");

  const SpecVerdict rules = judge_returned({&other, &right, said, "n150"});
  EXPECT_EQ(rules.outcome, Outcome::kReferenceWrong);
  EXPECT_THAT(rules.reason, HasSubstr("recorded memory(DRAM INTERLEAVED), promised memory(L1 INTERLEAVED)"));
  EXPECT_THAT(rules.evidence, HasSubstr("and the device returns the same"));

  // A device that computes what it is asked for has nothing of its own to say.
  EXPECT_EQ(judge_returned({&other, nullptr, said, "n150"}).outcome, Outcome::kReferenceWrong);
  // Both wrong in the same way: the device is, too.
  EXPECT_EQ(judge_returned({&other, &other, said, "n150"}).outcome, Outcome::kFailed);
}

TEST(RecordedReturn, ADifferenceWithoutATraceIsAFailureToo) {
  const Specs promised{made()}, came{in_l1()};
  EXPECT_EQ(judge_returned({&promised, &promised, {}, "n150"}).outcome, Outcome::kPassed);
  const SpecVerdict verdict = judge_returned({&promised, &came, {}, "n150"});
  EXPECT_EQ(verdict.outcome, Outcome::kFailed);
  EXPECT_THAT(verdict.evidence, HasSubstr("no trace recorded what is right"));
}

TEST(RecordedReturn, TheNumberOfOutputsCounts) {
  const Specs one{made()};
  const auto three = recorded({made(), made(), made()});
  EXPECT_EQ(judge_returned({&one, nullptr, three, "n150"}).reason, "outputs: recorded 3, promised 1");
}

TEST(RecordedReturn, OneOfSeveralIsEnough) {
  const Specs promised{made()};
  std::vector<RecordedReturn> said = recorded({in_l1()});
  said.push_back(recorded({made()})[0]);
  EXPECT_EQ(judge_returned({&promised, nullptr, said, "n150"}).outcome, Outcome::kPassed);
}

TEST(RecordedReturn, WhatATraceDoesNotSayIsNotCompared) {
  const Specs promised{made()};
  auto said = recorded({made()});
  TensorSpec& spec = said[0].outputs[0].spec;
  spec.memory.reset();
  spec.layout = {};
  spec.storage = {};
  EXPECT_EQ(judge_returned({&promised, nullptr, said, "n150"}).outcome, Outcome::kPassed);
  spec.shape = {1, 1, 32, 32};
  EXPECT_EQ(judge_returned({&promised, nullptr, said, "n150"}).outcome, Outcome::kReferenceWrong);
}

TEST(RecordedReturn, ShardsOfAnotherBoardAreItsOwn) {
  const Specs promised{sharded_over(4)};
  const auto said = recorded({sharded_over(8)});
  EXPECT_EQ(judge_returned({&promised, nullptr, said, "n150"}).outcome, Outcome::kReferenceWrong);
  EXPECT_EQ(judge_returned({&promised, nullptr, said, "p150b"}).outcome, Outcome::kPassed);
  Specs shorter{sharded_over(4)};
  shorter[0].spec.shape = {1, 1, 32, 32};
  EXPECT_EQ(judge_returned({&shorter, nullptr, said, "p150b"}).outcome, Outcome::kReferenceWrong);
}

TEST(RecordedReturn, ItComesBackFromItsText) {
  const auto said = recorded({made(), sharded_over(4)}, 17);
  json::Document document;
  const std::string text = to_json(said);
  const auto root = document.parse(text);
  ASSERT_TRUE(root) << text;
  const auto back = parse_returns(**root);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json(*back), text);
  EXPECT_EQ((*back)[0].calls, 17);
  EXPECT_FALSE(parse_returns(**document.parse(R"([{"calls": 1}])")));
}

}  // namespace
}  // namespace opwright
