#include "exec/run_external.h"

#include <gtest/gtest.h>

#include "device/external/fake_device.h"
#include "exec/case_line.h"
#include "exec/python_call.h"
#include "exec/vote.h"
#include "model/call_json.h"

namespace opwright {
namespace {

constexpr std::string_view kTensor = "tensor([1,1,32,64] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED))";
constexpr std::string_view kCppTensor =
    "tensor([1,1,32,64] BFLOAT16 TILE memory(DRAM INTERLEAVED) tile [32,32] {alignment=[32,32]})";

OpConfig config_of(std::string line) {
  const auto replace_all = [&](std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = line.find(from, at)) != std::string::npos; at += to.size())
      line.replace(at, from.size(), to);
  };
  replace_all("$T", kTensor);
  replace_all("$C", kCppTensor);
  const auto config = parse_case(line);
  EXPECT_TRUE(config) << config.error().message;
  return config.value_or(OpConfig{});
}

CaseResult run_on(std::string line, const std::vector<std::string>& options, const RunOptions& how = {}) {
  const auto device = ExternalDevice::open(fake_device(options));
  EXPECT_TRUE(device) << device.error().message;
  return device ? run_case(config_of(std::move(line)), **device, how) : CaseResult{};
}

TEST(RunExternal, PositionsNamesAndCppArgumentsComputeTheSame) {
  for (const char* line : {"ttnn.add(input_tensor_a=$T,input_tensor_b=$T)", "ttnn.add(arg0=$T,arg1=$T)",
                           "ttnn.add(arg0=$T,input_tensor_b=$T)", "ttnn::add(arg0=$C,arg1=$C)"}) {
    const CaseResult result = run_on(line, {});
    // Right, and nobody knows what was executed: no pass.
    EXPECT_EQ(result.outcome, Outcome::kUnproven) << line << ": " << result.reason;
    ASSERT_EQ(result.verdicts.size(), 1U);
    EXPECT_EQ(result.verdicts[0].outcome, Outcome::kPassed);
  }
}

TEST(RunExternal, RightNumbersInAnotherTensorAreWrong) {
  const std::pair<const char*, const char*> kFaults[] = {
      {"other_memory", "output 0 memory: promised memory(DRAM INTERLEAVED), came memory(L1 INTERLEAVED)"},
      {"other_layout", "output 0 layout: promised TILE, came ROW_MAJOR"},
      {"other_storage", "output 0 storage: promised DEVICE, came HOST"},
      {"other_padding", "output 0 padded_shape: promised [1,1,32,64], came [1,1,64,64]"},
      {"no_specs", "the device does not say what it returned"},
      {"unsaid_storage", "the device does not say what it returned: output 0 has no storage"},
      {"unsaid_memory", "the device does not say what it returned: output 0 has no memory"},
      {"unsaid_layout", "the device does not say what it returned: output 0 has no layout"},
      {"unsaid_dtype", "the device does not say what it returned: output 0 has no dtype"},
      {"unsaid_padded_shape", "the device does not say what it returned: output 0 has no padded_shape"},
      {"unrounded", "values are none that BFLOAT16 can hold"},
  };
  for (const auto& [fault, words] : kFaults) {
    const CaseResult result = run_on("ttnn.add(input_tensor_a=$T,input_tensor_b=$T)", {"--fault", fault});
    EXPECT_EQ(result.outcome, Outcome::kFailed) << fault << ": " << result.reason;
    EXPECT_NE(result.reason.find(words), std::string::npos) << fault << ": " << result.reason;
  }
}

TEST(RunExternal, AnInputThatWasOverwrittenIsTheDevicesError) {
  const CaseResult result = run_on("ttnn.add(input_tensor_a=$T,input_tensor_b=$T)", {"--fault", "overwrites"});
  EXPECT_EQ(result.outcome, Outcome::kDeviceError);
  EXPECT_NE(result.reason.find("wrote into input 0"), std::string::npos) << result.reason;
}

TEST(RunExternal, AnOutputElsewhereThanPromisedIsAFailureAlsoWhereNothingIsComputed) {
  const CaseResult result =
      run_on("ttnn.add(input_tensor_a=$T,input_tensor_b=$T)", {"--numerics", "none", "--fault", "other_memory"});
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_EQ(result.reason, "output 0 memory: promised memory(DRAM INTERLEAVED), came memory(L1 INTERLEAVED)");
  EXPECT_EQ(result.outputs[0].spec.memory->buffer.value, BufferType::kL1);  // what came, not what we thought
}

TEST(RunExternal, WhatTheTraceRecordedDecidesWhoIsWrong) {
  TensorSpec there = *config_of("ttnn.relu(input_tensor=$T)").args[0].value.as_tensor();
  RunOptions traced;
  traced.recorded = {{{{there, {}, {}}}, 5, "n150"}};
  for (const char* numerics : {"none", "real"}) {
    const CaseResult right = run_on("ttnn.add(input_tensor_a=$T,input_tensor_b=$T)", {"--numerics", numerics}, traced);
    EXPECT_FALSE(is_failure(right.outcome)) << right.reason;
    const CaseResult device = run_on("ttnn.add(input_tensor_a=$T,input_tensor_b=$T)",
                                     {"--numerics", numerics, "--fault", "other_memory"}, traced);
    EXPECT_EQ(device.outcome, Outcome::kFailed);
    EXPECT_NE(device.evidence.find("5 calls of the traces returned so"), std::string::npos) << device.evidence;
  }
  there.memory->buffer.value = BufferType::kL1;
  traced.recorded = {{{{there, {}, {}}}, 5, "n150"}};
  const CaseResult ours = run_on("ttnn.add(input_tensor_a=$T,input_tensor_b=$T)", {"--fault", "other_memory"}, traced);
  EXPECT_EQ(ours.outcome, Outcome::kReferenceWrong) << ours.reason;
  EXPECT_EQ(ours.blame, Blame::kReference);
}

Vote voted(const std::vector<std::string>& options) {
  const auto device = ExternalDevice::open(fake_device(options));
  EXPECT_TRUE(device) << device.error().message;
  return device ? vote_on_reference(config_of("ttnn.add(input_tensor_a=$T,input_tensor_b=$T)"), **device, **device, {})
                : Vote{};
}

TEST(Vote, GoldenFunctionAndDeviceTogetherOverruleOurReference) {
  const Vote both = voted({"--adds", "2", "--golden", "2"});
  EXPECT_EQ(both.golden, Outcome::kFailed);
  EXPECT_TRUE(both.reference_wrong);
  EXPECT_NE(both.evidence.find("golden function fails against our reference too"), std::string::npos) << both.evidence;
}

TEST(Vote, OneAgainstEachOtherDecidesNothing) {
  const Vote each = voted({"--adds", "2", "--golden", "3"});
  EXPECT_EQ(each.golden, Outcome::kFailed);
  EXPECT_FALSE(each.reference_wrong);
  const Vote device_alone = voted({"--adds", "2", "--golden", "1"});
  EXPECT_EQ(device_alone.golden, Outcome::kPassed);
  EXPECT_FALSE(device_alone.reference_wrong);
}

TEST(RunExternal, WhatOurRulesRefuseIsAskedAllTheSame) {
  const CaseResult result = run_on("ttnn.add(input_tensor_a=$T,input_tensor_b=$T,no_such_argument=3)", {});
  EXPECT_EQ(result.outcome, Outcome::kAccepted) << result.reason;
  EXPECT_NE(result.reason.find("no reference here"), std::string::npos) << result.reason;
  ASSERT_FALSE(result.notes.empty());
  EXPECT_NE(result.notes[0].find("predicted unsupported"), std::string::npos) << result.notes[0];
}

TEST(RunExternal, ARefusalThatWeDidNotExpectIsSaid) {
  const CaseResult result = run_on("ttnn.add(input_tensor_a=$T,input_tensor_b=$T)", {"--fault", "refused"});
  EXPECT_EQ(result.outcome, Outcome::kRefused);
  EXPECT_EQ(result.argument, "memory_config");
  EXPECT_EQ(result.notes, (std::vector<std::string>{"the rules here would accept it"}));
}

TEST(RunExternal, RepeatedCallsHaveTwoTimes) {
  RunOptions twice;
  twice.repeat = 2;
  const CaseResult result = run_on("ttnn.add(input_tensor_a=$T,input_tensor_b=$T)", {}, twice);
  EXPECT_EQ(result.cold_seconds, 0.5);
  EXPECT_EQ(result.seconds, 0.25);
  EXPECT_EQ(result.kernel_seconds, 0.125);
}

std::string sent(std::string line) {
  const auto call = python_call(config_of(std::move(line)));
  if (!call) return "refused: " + call.error().message;
  return encode_call(call->op, call->args).value_or("none");
}

TEST(PythonCall, TensorsLieOnTheDeviceAndUsualAlignmentsAreNotSaid) {
  const std::string text = sent("ttnn::add(arg0=$C,arg1=$C)");
  EXPECT_NE(text.find(R"("storage": "DEVICE")"), std::string::npos) << text;
  EXPECT_EQ(text.find("alignment"), std::string::npos) << text;
  EXPECT_EQ(text.find("null"), std::string::npos) << text;
}

TEST(PythonCall, AnAlignmentThatPadsMoreIsKept) {
  OpConfig config = config_of("ttnn::relu(arg0=$C)");
  TensorSpec spec = *config.args[0].value.as_tensor();
  for (auto& [name, value] : spec.more)
    if (name == "alignment") value = Value(List{Value(std::int64_t{64}), Value(std::int64_t{128})});
  config.args[0].value = Value::tensor(spec);
  const auto call = python_call(config);
  ASSERT_TRUE(call) << call.error().message;
  EXPECT_FALSE(call->tensors[0].spec.more.empty());
}

TEST(PythonCall, OperandsGoByPositionWhateverTheirNames) {
  for (const char* op : {"add", "add_", "multiply_", "maximum"}) {
    const std::string text = sent(std::string("ttnn::") + op + "(arg0=$C,arg1=$C)");
    EXPECT_NE(text.find(R"("args": [{"tensor")"), std::string::npos) << text;
    EXPECT_EQ(text.find("\"input_"), std::string::npos) << text;
  }
}

TEST(PythonCall, AnUnknownOperatorHasNoNamesForItsPositions) {
  EXPECT_NE(sent("ttnn::no_such_operator(arg0=$C)").find("C++ arguments by position"), std::string::npos);
}

}  // namespace
}  // namespace opwright
