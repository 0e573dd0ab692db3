// Equal values among those that are chosen from: every right choice passes, and a wrong one does not hide behind them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "exec/case_data.h"
#include "exec/case_line.h"
#include "exec/changed_device.h"
#include "exec/plan_call.h"
#include "exec/run_case.h"

namespace opwright {
namespace {

const std::string kRows = "tensor([1,1,64,96] BFLOAT16 ROW_MAJOR DEVICE memory(DRAM INTERLEAVED))";
const std::string kTiles = "tensor([1,1,64,256] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED))";

using Ints = std::vector<std::int64_t>;

CaseResult run(const std::string& line, const ChangedDevice::ChangeOutputs& change, const RunOptions& options = {}) {
  const auto config = parse_case(line);
  EXPECT_TRUE(config.has_value()) << line;
  auto right = open_device("sim:n150");
  ChangedDevice device(**right, change);
  return run_case(*config, device, options);
}
Outcome outcome(const std::string& line, const ChangedDevice::ChangeOutputs& change) {
  return run(line, change).outcome;
}

// Positions of equal values in the row of `width` that begins at `base`.
Ints like(const HostTensor& input, std::int64_t base, std::int64_t width, std::int64_t position) {
  Ints out;
  for (std::int64_t i = 0; i < width; ++i)
    if (input.at(base + i) == input.at(base + position)) out.push_back(i);
  return out;
}

void as_they_are(std::vector<HostTensor>&, std::span<const HostTensor>) {}

TEST(Ties, EveryFourthRowHasThem) {
  const auto config = parse_case("ttnn.topk(" + kTiles + ", 32)");
  const auto plan = plan_call(*config, *find_board("n150"));
  ASSERT_TRUE(plan.has_value());
  for (const Distribution distribution : {Distribution::kNormal, Distribution::kIntegers, Distribution::kUniform01}) {
    const HostTensor input = make_inputs(*plan->op, plan->call, {distribution, 5})[0];
    int tied = 0;
    for (std::int64_t row = 0; row < 64; ++row) {
      std::vector<float> sorted(input.floats.begin() + row * 256, input.floats.begin() + (row + 1) * 256);
      std::ranges::sort(sorted, std::greater());
      const bool largest = sorted[0] == sorted[1];
      tied += largest ? 1 : 0;
      EXPECT_EQ(sorted[0] == sorted[2], largest) << row;
      EXPECT_EQ(sorted[31] == sorted[32], largest) << row << ": the last of 32 and the next";
      EXPECT_EQ(sorted[254] == sorted[255], largest) << row << ": the smallest";
    }
    EXPECT_EQ(tied, 16);
  }
}

TEST(Ties, ArgmaxTakesTheFirst) {
  const std::string line = "ttnn.argmax(" + kRows + ", dim=-1)";
  EXPECT_EQ(outcome(line, as_they_are), Outcome::kPassed);
  const auto last = [](std::vector<HostTensor>& outputs, std::span<const HostTensor> inputs) {
    for (std::int64_t row = 0; row < 64; ++row) {
      std::int64_t& index = outputs[0].ints[static_cast<std::size_t>(row)];
      index = like(inputs[0], row * 96, 96, index).back();
    }
  };
  EXPECT_EQ(outcome(line, last), Outcome::kFailed);
}

// -0 and 0 are equal, and kernels that look at signs first take 0 for larger.
TEST(Ties, ArgmaxMayTellZeroFromMinusZero) {
  const auto config = parse_case("ttnn.argmax(" + kRows + ", dim=-1)");
  const auto plan = plan_call(*config, *find_board("n150"));
  ASSERT_TRUE(plan.has_value());
  std::vector<HostTensor> inputs = make_inputs(*plan->op, plan->call, {});
  for (float& value : inputs[0].floats) value = -1;
  inputs[0].floats[7] = -0.0F;
  inputs[0].floats[9] = inputs[0].floats[11] = 0.0F;
  const Rows rows{.total = 1, .length = 64, .picked = {}};
  const auto exact = plan->op->reference({plan->call, inputs, plan->outputs, 0, rows});
  ASSERT_TRUE(exact.has_value());
  EXPECT_EQ(exact->value[0], 7);
  EXPECT_TRUE(exact->same_choice(0, 7, 9)) << "the first 0";
  for (const double wrong : {11.0, 8.0, 96.0, -1.0, 9.5}) EXPECT_FALSE(exact->same_choice(0, 7, wrong)) << wrong;
  EXPECT_FALSE(exact->same_choice(1, 0, 1)) << "a row of equal numbers has a first one";
}

// Exchanges each position for another one of an equal value, as `pick` says from all that there are.
template <class Pick>
auto exchanging(std::int64_t k, Pick pick) {
  return [k, pick](std::vector<HostTensor>& outputs, std::span<const HostTensor> inputs) {
    const std::int64_t width = row_length(inputs[0].spec.shape);
    for (std::int64_t row = 0; row < inputs[0].size() / width; ++row) {
      std::map<double, std::int64_t> taken;
      for (std::int64_t i = 0; i < k; ++i) {
        std::int64_t& index = outputs[1].ints[static_cast<std::size_t>(row * k + i)];
        const Ints all = like(inputs[0], row * width, width, index);
        index = pick(all, taken[inputs[0].at(row * width + index)]++);
      }
    }
  };
}
std::int64_t last_first(const Ints& all, std::int64_t taken) {
  return all[all.size() - 1 - static_cast<std::size_t>(taken)];
}

TEST(Ties, TopkMayTakeAnyOfEqualsEachOnce) {
  for (const std::string& line : {"ttnn.topk(" + kTiles + ", 32)", "ttnn.topk(" + kTiles + ", 32, largest=false)"}) {
    EXPECT_EQ(outcome(line, as_they_are), Outcome::kPassed) << line;
    const CaseResult turned = run(line, exchanging(32, last_first));
    EXPECT_EQ(turned.outcome, Outcome::kPassed) << line << ": " << turned.reason;
    EXPECT_GT(turned.verdicts[1].ties, 16 * 20) << "the verdict says so";
    const CaseResult twice = run(line, exchanging(32, [](const Ints& all, std::int64_t) { return all.front(); }));
    EXPECT_EQ(twice.outcome, Outcome::kFailed) << line;
    EXPECT_NE(twice.reason.find("chosen twice"), std::string::npos) << twice.reason;
  }
}

TEST(Ties, AStableTopkTakesTheFirstFirst) {
  const std::string line = "ttnn.topk(" + kTiles + ", 32, stable=true)";
  EXPECT_EQ(outcome(line, as_they_are), Outcome::kPassed);
  EXPECT_EQ(outcome(line, exchanging(32, last_first)), Outcome::kFailed);
}

TEST(Ties, PositionsOfOtherValuesAreWrong) {
  const std::string line = "ttnn.topk(" + kTiles + ", 32)";
  const auto swapped = [](std::vector<HostTensor>& outputs, std::span<const HostTensor>) {
    std::swap(outputs[1].ints[0], outputs[1].ints[31]);
  };
  const auto beyond = [](std::vector<HostTensor>& outputs, std::span<const HostTensor>) { outputs[1].ints[40] = 256; };
  const auto twice = [](std::vector<HostTensor>& outputs, std::span<const HostTensor>) {
    outputs[1].ints[70] = outputs[1].ints[69];
  };
  const auto next_value = [](std::vector<HostTensor>& outputs, std::span<const HostTensor>) {
    outputs[0].floats[5] = outputs[0].floats[9];
  };
  for (const ChangedDevice::ChangeOutputs& change :
       {ChangedDevice::ChangeOutputs(swapped), {beyond}, {twice}, {next_value}})
    EXPECT_EQ(outcome(line, change), Outcome::kFailed);
}

// A choice goes down the columns there, and its answers stand in rows of their own.
TEST(Ties, ChoicesAlongAnotherDimension) {
  const std::string line = "ttnn.topk(tensor([1,64,32,32] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)), 4, dim=1)";
  const auto config = parse_case(line);
  const auto plan = plan_call(*config, *find_board("n150"));
  ASSERT_TRUE(plan.has_value());
  std::vector<HostTensor> inputs = make_inputs(*plan->op, plan->call, {});
  for (std::size_t i = 0; i < inputs[0].floats.size(); ++i) inputs[0].floats[i] = i / 1024 < 6 ? 2.0F : 1.0F;
  const Rows rows{.total = 4 * 32, .length = 32, .picked = {}};
  const auto exact = plan->op->reference({plan->call, inputs, plan->outputs, 1, rows});
  ASSERT_TRUE(exact.has_value());
  const ErrorBudget budget = plan->op->budget(plan->call, plan->outputs, 1);
  HostTensor actual{plan->outputs[1].spec, {}, Ints(exact->value.begin(), exact->value.end())};
  const auto verdict = [&] {
    return judge({.wanted = plan->outputs[1].spec,
                  .actual = actual,
                  .budget = budget,
                  .value = exact->value,
                  .magnitude = {},
                  .rows = {},
                  .same_choice = exact->same_choice,
                  .choice_of = exact->choice_of});
  };
  EXPECT_EQ(verdict().outcome, Outcome::kPassed);
  actual.ints[3 * 1024 + 17] = 5;  // 3 was the exact one, and 5 is as large
  EXPECT_EQ(verdict().outcome, Outcome::kPassed);
  actual.ints[1 * 1024 + 17] = 5;
  EXPECT_EQ(verdict().outcome, Outcome::kFailed) << "5 twice in one column";
  actual.ints[1 * 1024 + 17] = 1;
  actual.ints[1 * 1024 + 18] = 5;
  EXPECT_EQ(verdict().outcome, Outcome::kPassed) << "5 in two columns";
  actual.ints[1 * 1024 + 18] = 6;
  EXPECT_EQ(verdict().outcome, Outcome::kFailed) << "6 is smaller";
}

}  // namespace
}  // namespace opwright
