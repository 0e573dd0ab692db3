#include "exec/run_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "exec/case_line.h"
#include "exec/changed_device.h"

namespace opwright {
namespace {

constexpr char kTensor[] = "tensor([1,1,64,96] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED))";

CaseResult run(const std::string& line, std::string_view device_name = "sim:n150", const RunOptions& options = {}) {
  const auto config = parse_case(line);
  EXPECT_TRUE(config.has_value()) << line;
  auto device = open_device(device_name);
  EXPECT_TRUE(device.has_value());
  return run_case(*config, **device, options);
}

// Computes what it likes: to see that the judge looks.
class WrongDevice : public Device {
 public:
  WrongDevice(Device& right, float factor) : right_(right), factor_(factor) {}
  const Capabilities& can() const override { return right_.can(); }
  Checked<MemoryReport> admit(const DeviceCall& call) override { return right_.admit(call); }
  Checked<DeviceResult> run(const DeviceCall& call, std::span<const HostTensor> inputs) override {
    auto result = right_.run(call, inputs);
    for (HostTensor& output : result->outputs)
      for (float& value : output.floats) value *= factor_;
    return result;
  }

 private:
  Device& right_;
  float factor_;
};

TEST(RunCase, AGoodResultPassesAndSaysOnWhat) {
  const CaseResult result = run(std::string("ttnn.add(arg0=") + kTensor + ", arg1=" + kTensor + ")");
  EXPECT_EQ(result.outcome, Outcome::kPassed) << result.reason;
  ASSERT_EQ(result.verdicts.size(), 1U);
  EXPECT_EQ(result.verdicts[0].distribution, "N(0,1)");
  EXPECT_EQ(result.outputs[0].padded, (Shape{1, 1, 64, 96}));
}

TEST(RunCase, AWrongOrDeadDeviceDoesNotPass) {
  const auto config = parse_case(std::string("ttnn.multiply(arg0=") + kTensor + ", arg1=" + kTensor + ")");
  auto right = open_device("sim:n150");
  WrongDevice scaled(**right, 1.02F);
  EXPECT_EQ(run_case(*config, scaled, {}).outcome, Outcome::kFailed);
  WrongDevice dead(**right, 0.0F);
  EXPECT_NE(run_case(*config, dead, {}).outcome, Outcome::kPassed);
}

TEST(RunCase, ADeviceWithoutNumericsNeverPasses) {
  const CaseResult result = run(std::string("ttnn.relu(arg0=") + kTensor + ")", "null");
  EXPECT_EQ(result.outcome, Outcome::kAccepted);
  EXPECT_TRUE(result.verdicts.empty());
}

TEST(RunCase, RefusalsAreNamed) {
  const auto expect = [](const std::string& line, Outcome outcome, std::string_view text) {
    const CaseResult result = run(line);
    EXPECT_EQ(result.outcome, outcome) << line << ": " << result.reason;
    EXPECT_NE(result.reason.find(text), std::string::npos) << result.reason;
  };
  expect("ttnn.rleu(arg0=1)", Outcome::kUnsupported, "did you mean 'ttnn.relu'");
  expect(std::string("ttnn.relu(arg0=") + kTensor + ", colour=3)", Outcome::kUnsupported, "colour");
  expect("ttnn.relu(arg0=tensor([32,32] BFLOAT16 DEVICE))", Outcome::kLost, "layout");
  expect("ttnn.relu(arg0=tensor([32,32] TILE DEVICE))", Outcome::kLost, "dtype");
  expect("ttnn.relu(arg0=tensor(shape absent))", Outcome::kLost, "shape");
  // A dtype is known, or not; those that nobody computes with are refused by name alike.
  for (const char* dtype : {"INT64", "FLOAT16", "BOOL", "COMPLEX64", "FLOAT8_E4M3FN", "dtype=ODD"})
    expect(std::string("ttnn.relu(arg0=tensor([32,32] ") + dtype + " TILE DEVICE memory(DRAM INTERLEAVED)))",
           Outcome::kUnsupported, std::string("has dtype ") + (dtype[0] == 'd' ? "ODD" : dtype));
  expect(std::string("ttnn.typecast(arg0=") + kTensor + ", dtype=DataType.FLOAT64)", Outcome::kUnsupported,
         "dtype FLOAT64");
  expect("aten.relu(arg0=tensor(torch.Tensor [32,32] FLOAT32))", Outcome::kUnsupported,
         "the dialect aten is recorded, not run");
  expect("ttnn.relu(arg0=tensor([32,32] BFLOAT8_B ROW_MAJOR DEVICE memory(DRAM INTERLEAVED)))", Outcome::kRefused,
         "TILE");
  expect("ttnn.relu(arg0=tensor([65536,65536] FLOAT32 TILE DEVICE memory(L1 INTERLEAVED)))", Outcome::kOutOfMemory,
         "Out of Memory");
  expect("ttnn.relu(arg0=tensor([4611686018427387904,8] FLOAT32 TILE DEVICE memory(L1 INTERLEAVED)))",
         Outcome::kOutOfMemory, "");
  expect("ttnn.relu(arg0=opaque(Tensor,\"...\"))", Outcome::kLost, "input_tensor");
}

TEST(RunCase, LargeOutputsAreJudgedByASampleThatIsSaid) {
  RunOptions options;
  options.most_elements = 2048;
  const CaseResult result =
      run("ttnn.relu(arg0=tensor([1,1,4096,64] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)))", "sim:n150", options);
  EXPECT_EQ(result.outcome, Outcome::kPassed) << result.reason;
  EXPECT_EQ(result.verdicts[0].total_rows, 4096);
  EXPECT_LT(result.verdicts[0].rows, 200);
  EXPECT_GE(result.verdicts[0].rows, 16);
}

// What fused functions make of the error before them: much where they are steep, nothing where they are flat.
TEST(RunCase, AFusedFunctionIsJudgedBehindIt) {
  const auto of = [](const std::string& shape, const std::string& dtype) {
    return "tensor([" + shape + "] " + dtype + " TILE DEVICE memory(DRAM INTERLEAVED))";
  };
  const CaseResult steep = run("ttnn.multiply(" + of("1,1,64,256", "FLOAT32") + ", 20, activations=[\"EXP\"])");
  EXPECT_EQ(steep.outcome, Outcome::kPassed) << steep.reason;
  for (const char* function : {"sigmoid", "gelu", "silu", "relu"}) {
    const auto config = parse_case("ttnn.linear(" + of("1,1,32,2048", "BFLOAT16") + ", " + of("2048,64", "BFLOAT16") +
                                   ", activation=\"" + function + "\")");
    auto right = open_device("sim:n150");
    const CaseResult sound = run_case(*config, **right, {});
    EXPECT_EQ(sound.outcome, Outcome::kPassed) << function << ": " << sound.reason;
    ChangedDevice turned(**right, [](std::vector<float>& values) { std::ranges::reverse(values); });
    EXPECT_EQ(run_case(*config, turned, {}).outcome, Outcome::kFailed) << function;
    ChangedDevice scaled(**right, [](std::vector<float>& values) {
      for (float& value : values) value *= 1.08F;
    });
    EXPECT_EQ(run_case(*config, scaled, {}).outcome, Outcome::kFailed) << function;
  }
}

// Each tap of a convolution of single channels is a rounded sum.
TEST(RunCase, AConvolutionOfSingleChannelsPasses) {
  const CaseResult result = run(
      "ttnn.conv2d(input_tensor=tensor([1,1,240,32] BFLOAT16 ROW_MAJOR DEVICE memory(DRAM INTERLEAVED)), "
      "weight_tensor=tensor([32,1,3,3] BFLOAT16 ROW_MAJOR HOST), in_channels=32, out_channels=32, batch_size=1, "
      "input_height=16, input_width=15, kernel_size=[3,3], stride=[1,1], padding=[1,1], dilation=[1,1], groups=32)");
  EXPECT_EQ(result.outcome, Outcome::kPassed) << result.reason;
}

// Sums of long rows, of several dimensions: what the library computes is right, so that it must pass.
TEST(RunCase, SoundKernelsOfLongSumsPass) {
  const auto of = [](const std::string& shape) {
    return "tensor([" + shape + "] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED))";
  };
  for (const char* width : {"4000", "8192", "32000"}) {
    const CaseResult result = run("ttnn.softmax(" + of(std::string("1,1,32,") + width) + ", dim=-1)");
    EXPECT_EQ(result.outcome, Outcome::kPassed) << width << ": " << result.reason;
  }
  for (const auto& [shape, dims] :
       {std::pair{"1,4,64,256", "[1,2]"}, {"4,4,64,256", "[0,-1]"}, {"8,64,256", "[-2,-1]"}}) {
    const CaseResult result = run("ttnn.sum(" + of(shape) + ", dim=" + dims + ")");
    EXPECT_EQ(result.outcome, Outcome::kPassed) << shape << " over " << dims << ": " << result.reason;
  }
}

// Where the bound tells little, a second look on whole numbers forgives nothing.
TEST(RunCase, WideBoundsAreLookedAtOnWholeNumbersToo) {
  const std::string line =
      "ttnn.matmul(tensor([1,1,32,4096] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)), "
      "tensor([4096,64] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)))";
  const CaseResult sound = run(line);
  EXPECT_EQ(sound.outcome, Outcome::kPassed) << sound.reason;
  ASSERT_FALSE(sound.notes.empty());
  EXPECT_NE(sound.notes.back().find("whole numbers"), std::string::npos) << sound.notes.back();
  for (const double part : {sound.times.data, sound.times.device, sound.times.reference, sound.times.judge,
                            sound.times.blind, sound.times.whole})
    EXPECT_GT(part, 0.0);
  auto right = open_device("sim:n150");
  // One element of a thousand is a unit off: far within what 4096 rounded products may differ.
  ChangedDevice wrong(**right, [](std::vector<float>& values) { values[777] += 1.0F; });
  const CaseResult result = run_case(*parse_case(line), wrong, {});
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_NE(result.reason.find("on whole numbers"), std::string::npos) << result.reason;
}

// Rounding explains a common factor on random data; whole numbers do not, and what is left is said.
TEST(RunCase, ACommonFactorOfOnePercentFailsAndAPassSaysWhatItHides) {
  const std::string line =
      "ttnn.matmul(tensor([1,1,64,256] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)), "
      "tensor([256,96] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)))";
  const CaseResult sound = run(line);
  ASSERT_EQ(sound.outcome, Outcome::kPassed) << sound.reason;
  const Metrics& metrics = sound.verdicts.at(0).metrics;
  EXPECT_GE(metrics.factor_low, 1 - 1.0 / 256);
  EXPECT_LE(metrics.factor_high, 1 + 1.0 / 256);
  EXPECT_LT(metrics.factor_low, 1);
  EXPECT_GT(metrics.factor_high, 1);
  EXPECT_NE(
      to_text(sound.verdicts[0]).find("would not be noticed: all values too large or too small by a factor of 0.99"),
      std::string::npos)
      << to_text(sound.verdicts[0]);
  auto right = open_device("sim:n150");
  for (const float factor : {0.99F, 1.01F}) {
    ChangedDevice scaled(**right, [factor](std::vector<float>& values) {
      for (float& value : values) value *= factor;
    });
    EXPECT_EQ(run_case(*parse_case(line), scaled, {}).outcome, Outcome::kFailed) << factor;
  }
  // Nothing is exact behind a function: there the range is that of rounding.
  const CaseResult fused = run(line.substr(0, line.size() - 1) + ", activation=\"silu\")");
  ASSERT_EQ(fused.outcome, Outcome::kPassed) << fused.reason;
  const Metrics& behind = fused.verdicts.at(0).metrics;
  EXPECT_TRUE(std::isnan(behind.factor_low) || behind.factor_low < 1) << behind.factor_low;
}

TEST(RunCase, TheSameSeedGivesTheSameData) {
  const auto config = parse_case(std::string("ttnn.relu(arg0=") + kTensor + ")");
  const auto plan = plan_call(*config, *find_board("n150"));
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(make_inputs(*plan->op, plan->call, {.seed = 3})[0].floats,
            make_inputs(*plan->op, plan->call, {.seed = 3})[0].floats);
  EXPECT_NE(make_inputs(*plan->op, plan->call, {.seed = 3})[0].floats,
            make_inputs(*plan->op, plan->call, {.seed = 4})[0].floats);
}

}  // namespace
}  // namespace opwright
