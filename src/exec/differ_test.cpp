#include "exec/differ.h"

#include <gtest/gtest.h>

#include "model/test_tensors.h"

namespace opwright {
namespace {

CaseResult ended(Outcome outcome, std::string reason = "") {
  CaseResult result;
  result.outcome = outcome;
  result.reason = std::move(reason);
  return result;
}

CaseResult computed(std::vector<float> values) {
  CaseResult result = ended(Outcome::kPassed);
  TensorSpec spec = tensor({1, static_cast<std::int64_t>(values.size())}, DType::kFloat32);
  result.outputs = {output_spec(spec)};
  result.verdicts.emplace_back().pcc_threshold = 0.999;
  result.actual = {HostTensor{spec, std::move(values), {}}};
  return result;
}

TEST(Differ, ADeviceWithoutNumericsDoesNotContradictAPass) {
  EXPECT_TRUE(disagreements(computed({1, 2, 3}), ended(Outcome::kAccepted)).empty());
  EXPECT_TRUE(disagreements(ended(Outcome::kRefused, "a"), ended(Outcome::kRefused, "b")).empty());
}

TEST(Differ, OutcomesThatDifferAreSaidWithTheirReasons) {
  const auto lines = disagreements(computed({1, 2}), ended(Outcome::kRefused, "TT_FATAL: no\nbacktrace"));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0], "outcome: passed, refused (TT_FATAL: no…)");
}

TEST(Differ, WhoHasNoAnswerContradictsNobody) {
  for (const Outcome none : {Outcome::kUnsupported, Outcome::kLost}) {
    EXPECT_TRUE(disagreements(computed({1, 2}), ended(none, "no such operator")).empty());
    EXPECT_TRUE(disagreements(ended(none), ended(Outcome::kRefused)).empty());
  }
  EXPECT_EQ(disagreements(ended(Outcome::kAccepted), ended(Outcome::kOutOfMemory)).size(), 1U);
}

TEST(Differ, SpecsAreComparedFieldByField) {
  CaseResult first = computed({1, 2, 3}), second = first;
  second.outputs[0].spec.memory->buffer.value = BufferType::kL1;
  second.outputs[0].spec.dtype.value = DType::kBfloat16;
  const auto lines = disagreements(first, second);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], "output 0 dtype: first FLOAT32, second BFLOAT16");
  EXPECT_EQ(lines[1], "output 0 memory: first memory(DRAM INTERLEAVED), second memory(L1 INTERLEAVED)");
}

TEST(Differ, ValuesMayRoundOtherwiseAndMustNotBeOthers) {
  EXPECT_TRUE(disagreements(computed({1, 2, 3, 4}), computed({1, 2.001F, 3, 4})).empty());
  const auto lines = disagreements(computed({1, 2, 3, 4}), computed({4, 3, 2, 1}));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("4 of 4 elements differ"), std::string::npos) << lines[0];
}

TEST(Differ, OnlyRowsThatBothComputedCount) {
  CaseResult first = computed({1, 2, 3, 4, 5, 6}), second = computed({1, 2, 9, 9, 5, 6});
  for (CaseResult* one : {&first, &second}) one->actual[0].spec.shape = {3, 2};
  first.judged_rows = {{0, 1, 2}};
  second.judged_rows = {{0, 2}};
  EXPECT_TRUE(disagreements(first, second).empty());
}

}  // namespace
}  // namespace opwright
