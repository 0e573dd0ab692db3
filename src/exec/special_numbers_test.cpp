// Numbers that are none: every kind reaches an operator that hands them through, and one of them lost there is noticed.
#include "exec/special_numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "exec/case_data.h"
#include "exec/case_line.h"
#include "exec/changed_device.h"
#include "exec/plan_call.h"
#include "exec/run_case.h"

namespace opwright {
namespace {

const std::string kTensor = "tensor([1,1,64,96] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED))";
const std::string kMatrix = "tensor([1,1,96,64] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED))";
constexpr DataRecipe kSpecial{.distribution = Distribution::kSpecial, .seed = 3};

std::vector<HostTensor> inputs_of(const std::string& line) {
  const auto config = parse_case(line);
  auto plan = plan_call(*config, *find_board("n150"));
  EXPECT_TRUE(plan.has_value()) << line;
  return make_inputs(*plan->op, plan->call, kSpecial);
}

Outcome outcome_of(
    const std::string& line, const std::function<void(std::vector<float>&)>& change = [](std::vector<float>&) {}) {
  auto device = open_device("sim:n150");
  ChangedDevice changed(**device, change);
  RunOptions options;
  options.recipe = kSpecial;
  return run_case(*parse_case(line), changed, options).outcome;
}

void replace_in(std::vector<float>& values, const std::function<bool(float)>& which, float by) {
  std::ranges::replace_if(values, which, by);
}

TEST(SpecialNumbers, EveryKindReachesWhatHandsNumbersThrough) {
  const HostTensor input = inputs_of("ttnn.transpose(" + kTensor + ", 2, 3)")[0];
  const auto count = [&](const auto& is) { return std::ranges::count_if(input.floats, is); };
  EXPECT_GT(count([](float v) { return std::isnan(v); }), 0);
  EXPECT_GT(count([](float v) { return v == INFINITY; }), 0);
  EXPECT_GT(count([](float v) { return v == -INFINITY; }), 0);
  EXPECT_GT(count([](float v) { return std::fpclassify(v) == FP_SUBNORMAL; }), 0);
  EXPECT_GT(count([](float v) { return v == 0 && std::signbit(v); }), 0);
  EXPECT_GT(count([](float v) { return v > 1e38F && v < INFINITY; }), 0);
  const auto ordinary = count([](float v) { return std::isfinite(v) && std::abs(v) < 10; });
  EXPECT_GT(static_cast<double>(ordinary), 0.9 * static_cast<double>(input.size()));
}

TEST(SpecialNumbers, LargeWholeNumbersReachTensorsOfThem) {
  const HostTensor input =
      inputs_of("ttnn.transpose(tensor([1,1,64,96] INT32 TILE DEVICE memory(DRAM INTERLEAVED)), 2, 3)")[0];
  EXPECT_EQ(std::ranges::max(input.ints), 2147483647);
  EXPECT_EQ(std::ranges::min(input.ints), -2147483648LL);
}

TEST(SpecialNumbers, SumsGetThemInFewRowsOfOneOperand) {
  const auto inputs = inputs_of("ttnn.matmul(" + kTensor + ", " + kMatrix + ")");
  const auto odd = [](float v) { return !std::isfinite(v); };
  EXPECT_GT(std::ranges::count_if(inputs[0].floats, odd), 0);
  EXPECT_LE(std::ranges::count_if(inputs[0].floats, odd), 8);
  EXPECT_EQ(std::ranges::count_if(inputs[1].floats, odd), 0);
}

TEST(SpecialNumbers, FunctionsGetBothInfinities) {
  for (const std::string op : {"relu", "exp", "silu", "gelu", "tanh", "sigmoid", "abs", "square"}) {
    const std::string line = "ttnn." + op + "(" + kTensor + ")";
    const HostTensor input = inputs_of(line)[0];
    EXPECT_GT(std::ranges::count(input.floats, INFINITY), 0) << op;
    EXPECT_GT(std::ranges::count(input.floats, -INFINITY), 0) << op;
    EXPECT_EQ(outcome_of(line), Outcome::kPassed) << op;
  }
}

// What the function makes of minus infinity is asked for, unless it is 0 times infinity.
TEST(SpecialNumbers, MinusInfinityIsJudged) {
  const auto at_minus_infinity = [](const std::string& op, float by) {
    const std::string line = "ttnn." + op + "(" + kTensor + ")";
    const HostTensor input = inputs_of(line)[0];
    return outcome_of(line, [&](std::vector<float>& values) {
      for (std::size_t i = 0; i < values.size(); ++i)
        if (input.floats[i] == -INFINITY) values[i] = by;
    });
  };
  EXPECT_EQ(at_minus_infinity("exp", 0), Outcome::kPassed);
  EXPECT_EQ(at_minus_infinity("exp", -INFINITY), Outcome::kFailed);
  EXPECT_EQ(at_minus_infinity("exp", 1), Outcome::kFailed);
  EXPECT_EQ(at_minus_infinity("relu", INFINITY), Outcome::kFailed);
  EXPECT_EQ(at_minus_infinity("tanh", -1), Outcome::kPassed);
  EXPECT_EQ(at_minus_infinity("tanh", 1), Outcome::kFailed);
  EXPECT_EQ(at_minus_infinity("square", 0), Outcome::kFailed);
  for (const float any : {0.0F, -INFINITY, static_cast<float>(NAN)}) {
    EXPECT_EQ(at_minus_infinity("silu", any), Outcome::kPassed) << any;
    EXPECT_EQ(at_minus_infinity("gelu", any), Outcome::kPassed) << any;
  }
}

TEST(SpecialNumbers, ARightDevicePasses) {
  for (const std::string& line :
       {"ttnn.transpose(" + kTensor + ", 2, 3)", "ttnn.relu(" + kTensor + ")", "ttnn.sigmoid(" + kTensor + ")",
        "ttnn.exp(" + kTensor + ")", "ttnn.sqrt(" + kTensor + ")", "ttnn.add(" + kTensor + ", " + kTensor + ")",
        "ttnn.matmul(" + kTensor + ", " + kMatrix + ")", "ttnn.softmax(" + kTensor + ", dim=-1)",
        "ttnn.layer_norm(" + kTensor + ")", "ttnn.gt(" + kTensor + ", " + kTensor + ")"})
    EXPECT_EQ(outcome_of(line), Outcome::kPassed) << line;
}

TEST(SpecialNumbers, OneThatIsLostOrSpreadsIsNoticed) {
  const std::string moves = "ttnn.transpose(" + kTensor + ", 2, 3)";
  // The device packs NaN as infinity.
  const auto lost = [](std::vector<float>& values) {
    replace_in(values, [](float v) { return !std::isfinite(v); }, 0);
  };
  const auto large = [](std::vector<float>& values) {
    replace_in(values, [](float v) { return std::abs(v) > 1e38F && std::isfinite(v); }, 1e37F);
  };
  EXPECT_EQ(outcome_of(moves, lost), Outcome::kFailed);
  EXPECT_EQ(outcome_of(moves, large), Outcome::kFailed);
  const auto spreads = [](std::vector<float>& values) { values[0] = NAN; };
  EXPECT_EQ(outcome_of("ttnn.matmul(" + kTensor + ", " + kMatrix + ")", spreads), Outcome::kFailed);
  EXPECT_EQ(outcome_of("ttnn.exp(" + kTensor + ")", lost), Outcome::kFailed);
}

}  // namespace
}  // namespace opwright
