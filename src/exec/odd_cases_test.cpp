// Cases that no model has and in which a right device was once blamed (`./x bench right` looks for more of them).
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "exec/case_line.h"
#include "exec/run_case.h"

namespace opwright {
namespace {

std::string tensor(const std::string& what) { return "tensor(" + what + " DEVICE memory(DRAM INTERLEAVED))"; }
std::string compute(const std::string& fidelity, bool wide) {
  return ", compute_kernel_config=WormholeComputeKernelConfig(fp32_dest_acc_en=" +
         std::string(wide ? "true" : "false") + ",math_approx_mode=false,math_fidelity=MathFidelity." + fidelity +
         ",packer_l1_acc=true)";
}

CaseResult run(const std::string& line, DataRecipe recipe) {
  const auto config = parse_case(line);
  EXPECT_TRUE(config.has_value()) << line;
  auto device = open_device("sim:n150");
  RunOptions options;
  options.recipe = recipe;
  return run_case(*config, **device, options);
}

void expect_passed(const std::string& line, DataRecipe recipe) {
  const CaseResult result = run(line, recipe);
  EXPECT_EQ(result.outcome, Outcome::kPassed) << line << ": " << result.reason;
}

TEST(OddCases, SoftmaxLosesOperandBitsToo) {
  const std::string narrow = "ttnn.softmax(" + tensor("[1,1,31,16] BFLOAT8_B TILE") + ", dim=-1, numeric_stable=false" +
                             compute("LoFi", true) + ")";
  expect_passed(narrow, {Distribution::kPositive, 40});
  const std::string down = "ttnn.softmax(" + tensor("[1,2,127,725] FLOAT32 TILE") + ", dim=-2, numeric_stable=false" +
                           compute("HiFi4", true) + ")";
  expect_passed(down, {Distribution::kNormal, 5326});
  const std::string row = "ttnn.softmax(" + tensor("[1,2,54,100] FLOAT32 TILE") + ", dim=-1, numeric_stable=true" +
                          compute("HiFi3", true) + ")";
  expect_passed(row, {Distribution::kNormal, 77011});
}

TEST(OddCases, ReductionsOfFloat32) {
  expect_passed("ttnn.max(" + tensor("[1,1,128,256] FLOAT32 TILE") + ", dim=-1)", {Distribution::kNormal, 5122});
  expect_passed("ttnn.mean(" + tensor("[1,2,255,32] FLOAT32 TILE") + ", dim=-1)", {Distribution::kNormal, 16});
  expect_passed("ttnn.sum(" + tensor("[1,2,187,16] FLOAT32 TILE") + ", dim=-3)", {Distribution::kPositive, 5086});
  expect_passed("ttnn.sum(" + tensor("[1,2,221,2481] FLOAT32 TILE") + ", dim=-2)", {Distribution::kNormal, 77014});
}

// Every phase of a fidelity rounds, however few terms there are.
TEST(OddCases, SumsOfOneTermAndOfFewChannels) {
  const std::string one = "ttnn.matmul(" + tensor("[1,1,161,1] FLOAT32 TILE") + ", " +
                          tensor("[1,1,1,63] BFLOAT8_B TILE") + compute("HiFi3", false) + ")";
  expect_passed(one, {Distribution::kNormal, 5216});
  const auto conv = [](int channels, int out, int height, int width, const std::string& stride) {
    return "ttnn.conv2d(input_tensor=" +
           tensor("[1,1," + std::to_string(height * width) + "," + std::to_string(channels) + "] BFLOAT16 ROW_MAJOR") +
           ", weight_tensor=tensor([" + std::to_string(out) + "," + std::to_string(channels) +
           ",5,5] BFLOAT16 ROW_MAJOR HOST memory(DRAM INTERLEAVED)), in_channels=" + std::to_string(channels) +
           ", out_channels=" + std::to_string(out) + ", batch_size=1, input_height=" + std::to_string(height) +
           ", input_width=" + std::to_string(width) + ", kernel_size=[5,5], stride=" + stride + ", padding=[2,2])";
  };
  expect_passed(conv(1, 32, 7, 20, "[1,2]"), {Distribution::kNormal, 88125});
  expect_passed(conv(3, 70, 20, 20, "[2,2]"), {Distribution::kNormal, 88170});
}

TEST(OddCases, EndsAndFlatPartsOfFusedFunctions) {
  const std::string root = "ttnn.linear(" + tensor("[1,1,128,500] FLOAT32 TILE") + ", " +
                           tensor("[1,1,500,255] BFLOAT4_B TILE") + ", bias=" + tensor("[1,1,1,255] BFLOAT8_B TILE") +
                           ", activation=\"sqrt\"" + compute("HiFi2", false) + ")";
  expect_passed(root, {Distribution::kNormal, 5279});
  const std::string flat = "ttnn.linear(" + tensor("[1,1,33,1024] BFLOAT4_B TILE") + ", " +
                           tensor("[1,1,1024,96] BFLOAT16 TILE") + ", bias=" + tensor("[1,1,1,96] BFLOAT16 TILE") +
                           ", activation=\"erf\"" + compute("HiFi2", false) + ")";
  expect_passed(flat, {Distribution::kIntegers, 56});
  const std::string quotient = "ttnn.multiply(" + tensor("[1,1,183,2] BFLOAT8_B TILE") + ", " +
                               tensor("[1,1,1,2] BFLOAT8_B TILE") + ", activations=[UnaryOpType.RECIP])";
  expect_passed(quotient, {Distribution::kIntegers, 5211});
}

// Errors of several deviations are far more behind an exponential than one deviation tells, and near the largest number
// one side is infinite.
TEST(OddCases, FunctionsThatGrowFastBehindALongSum) {
  for (const char* function : {"exp", "square", "gelu", "tanh"})
    expect_passed("ttnn.linear(" + tensor("[1,1,64,2048] BFLOAT16 TILE") + ", " +
                      tensor("[1,1,2048,64] BFLOAT16 TILE") + ", activation=\"" + function + "\"" +
                      compute("HiFi2", false) + ")",
                  {Distribution::kNormal, 5});
}

// What a bfloat16 destination takes in is hardly more than its last place.
TEST(OddCases, SoftmaxOfManyTermsInABfloat16Destination) {
  for (const char* dtype : {"BFLOAT16", "FLOAT32"}) {
    for (const Distribution data : {Distribution::kNormal, Distribution::kUniform01}) {
      const auto line = [&](const std::string& shape, const std::string& dim) {
        return "ttnn.softmax(" + tensor(shape + " " + dtype + " TILE") + ", dim=" + dim + ", numeric_stable=true" +
               compute("HiFi4", false) + ")";
      };
      expect_passed(line("[1,1,64,2560]", "-1"), {data, 5});
      expect_passed(line("[1,1,2048,64]", "-2"), {data, 5});
    }
  }
}

// 1 / N is a bfloat16, which of 2040 is off by as much as it can be.
TEST(OddCases, MeansOverNumbersThatAreNoPowerOfTwo) {
  for (const Distribution data : {Distribution::kNormal, Distribution::kUniform01, Distribution::kPositive})
    for (const char* shape : {"[1,1,128,2040] BFLOAT16", "[1,1,128,2040] FLOAT32"})
      expect_passed(std::string("ttnn.mean(") + tensor(std::string(shape) + " TILE") + ", dim=-1)", {data, 9});
}

TEST(OddCases, RootsOfNegativeNumbersOnAnOperand) {
  const std::string a = tensor("[1,1,33,100] FLOAT32 TILE"), narrow = tensor("[1,1,33,100] BFLOAT16 TILE");
  for (const std::string& b : {a, narrow, std::string("2.0")})
    for (const char* call : {"ttnn.add", "ttnn.multiply"})
      for (const char* function : {"SQRT", "RSQRT", "LOG"})
        expect_passed(
            std::string(call) + "(" + a + ", " + b + ", input_tensor_a_activations=[UnaryOpType." + function + "])",
            {Distribution::kNormal, 5});
  // A denormal is 0 to the device, where the function has no value.
  const CaseResult ended =
      run("ttnn.multiply(" + a + ", 2.0, input_tensor_a_activations=[UnaryOpType.RSQRT])", {Distribution::kSpecial, 5});
  EXPECT_NE(ended.outcome, Outcome::kFailed) << ended.reason;
}

// What a function gives waits for the operator as a block float, where small numbers lose what a large neighbour takes.
TEST(OddCases, FunctionsOnOperandsOfBlockFloats) {
  const std::string a = tensor("[1,3,33,64] BFLOAT8_B TILE"), one = tensor("[1,3,1,1] BFLOAT8_B TILE");
  for (const char* call : {"ttnn.multiply", "ttnn.add", "ttnn.div"})
    for (const char* function : {"LEAKY_RELU", "SQUARE", "EXP"})
      for (const std::string& b : {a, one})
        expect_passed(
            std::string(call) + "(" + a + ", " + b + ", input_tensor_a_activations=[UnaryOpType." + function + "])",
            {Distribution::kNormal, 990622});
}

}  // namespace
}  // namespace opwright
