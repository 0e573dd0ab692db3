#include "exec/run_case.h"

#include <gtest/gtest.h>

#include "exec/case_line.h"

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
