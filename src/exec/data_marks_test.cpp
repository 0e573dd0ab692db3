// Marked data shows which part of it was used: what a wrong kernel would take must differ from what a right one takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "exec/case_data.h"
#include "exec/case_line.h"
#include "exec/plan_call.h"
#include "ops/all_ops.h"

namespace opwright {
namespace {

constexpr std::string_view kDram = " DEVICE memory(DRAM INTERLEAVED))";

std::string tensor(std::string_view what) { return "tensor(" + std::string(what) + std::string(kDram); }

struct Case {
  PlannedCall plan;
  std::vector<HostTensor> inputs;

  const HostTensor& of(std::string_view param) const { return inputs[*plan.call.slot(param)]; }
};

Case made_of(const std::string& line, DataRecipe recipe = {}, Marks marks = Marks::kOn) {
  const auto config = parse_case(line);
  EXPECT_TRUE(config.has_value()) << line;
  auto plan = plan_call(*config, *find_board("n150"));
  EXPECT_TRUE(plan.has_value()) << line << ": " << (plan ? "" : plan.error().message);
  auto inputs = make_inputs(*plan->op, plan->call, recipe, marks);
  return {std::move(*plan), std::move(inputs)};
}

struct Statistics {
  double mean = 0, variance = 0;
};
Statistics over(const HostTensor& tensor, std::int64_t first, std::int64_t count, std::int64_t step = 1) {
  Statistics out;
  for (std::int64_t i = 0; i < count; ++i) out.mean += tensor.at(first + i * step) / static_cast<double>(count);
  for (std::int64_t i = 0; i < count; ++i) {
    const double off = tensor.at(first + i * step) - out.mean;
    out.variance += off * off / static_cast<double>(count);
  }
  return out;
}

TEST(DataMarks, RowsOfANormHaveNoStatisticInCommon) {
  const std::int64_t width = 1024;
  const Case made = made_of("ttnn.layer_norm(" + tensor("[1,1,64,1024] BFLOAT16 TILE") + ", epsilon=1e-05)");
  double smallest = INFINITY, largest = 0;
  int near_epsilon = 0, halves = 0;
  for (std::int64_t row = 0; row < 64; ++row) {
    const Statistics all = over(made.inputs[0], row * width, width);
    const Statistics first = over(made.inputs[0], row * width, width / 2);
    const Statistics second = over(made.inputs[0], row * width + width / 2, width / 2);
    smallest = std::min(smallest, all.variance);
    largest = std::max(largest, all.variance);
    near_epsilon += all.variance > 2.5e-6 && all.variance < 8e-5 ? 1 : 0;
    EXPECT_GT(std::abs(all.mean), 0.15 * std::sqrt(all.variance)) << row << ": a missing mean would not show";
    halves += std::abs(std::log2(first.variance / second.variance)) > 1 ? 1 : 0;
  }
  EXPECT_GT(largest, 256 * smallest);
  EXPECT_GE(halves, 20) << "half a row would do";
  EXPECT_GT(near_epsilon, 4) << "any epsilon would do";
  const double all = over(made.inputs[0], 0, width).variance;
  EXPECT_GT(all, 1.2 * over(made.inputs[0], 0, width - 32).variance) << "the last tile may be left out";
  EXPECT_GT(all, 1.2 * over(made.inputs[0], 32, width - 32).variance) << "the first tile may be left out";
}

TEST(DataMarks, ARowAloneIsNearEpsilonAndNeedsItsLastTile) {
  const Case made = made_of("ttnn.rms_norm(" + tensor("[1,1,1,4096] BFLOAT16 TILE") + ", epsilon=1e-06)");
  const double variance = over(made.inputs[0], 0, 4096).variance;
  EXPECT_GT(variance, 1e-7);
  EXPECT_LT(variance, 1e-5);
  EXPECT_GT(variance, 1.2 * over(made.inputs[0], 0, 4096 - 32).variance);
}

TEST(DataMarks, AResidualIsAsLargeAsItsRow) {
  const Case made = made_of("ttnn.rms_norm(" + tensor("[1,1,32,512] BFLOAT16 TILE") +
                            ", epsilon=1e-05, residual_input_tensor=" + tensor("[1,1,32,512] BFLOAT16 TILE") + ")");
  for (std::int64_t row = 0; row < 32; ++row) {
    const double ratio = over(made.of("residual_input_tensor"), row * 512, 512).variance /
                         over(made.of("input_tensor"), row * 512, 512).variance;
    EXPECT_GT(ratio, 0.25) << row;
    EXPECT_LT(ratio, 4) << row;
  }
}

TEST(DataMarks, GroupsDifferAndGainsAreNotOne) {
  const Case made =
      made_of("ttnn.group_norm(" + tensor("[2,1,256,64] BFLOAT16 TILE") +
              ", num_groups=8, epsilon=1e-05, weight=" + tensor("[1,1,2,32] BFLOAT16 ROW_MAJOR") + ", inplace=false)");
  std::set<int> sizes;
  for (std::int64_t image = 0; image < 2; ++image)
    for (std::int64_t group = 0; group < 8; ++group)
      sizes.insert(std::ilogb(over(made.inputs[0], image * 256 * 64 + group * 8, 256, 64).variance));
  EXPECT_GE(sizes.size(), 5U);
  for (std::int64_t i = 0; i < 64; ++i) EXPECT_GE(std::abs(made.of("weight").at(i)), 0.5);
}

// How many of 64 rows have a tile with more than this part of the sum, and which tiles these are.
int rows_decided(std::int64_t width, double part, std::set<std::int64_t>& deciding) {
  const Case made =
      made_of("ttnn.softmax(" + tensor("[1,1,64," + std::to_string(width) + "] BFLOAT16 TILE") + ", dim=-1)");
  int decided = 0;
  for (std::int64_t row = 0; row < 64; ++row) {
    std::vector<double> tiles(static_cast<std::size_t>(width / 32));
    double all = 0;
    for (std::int64_t i = 0; i < width; ++i) {
      const double weight = std::exp(made.inputs[0].at(row * width + i));
      tiles[static_cast<std::size_t>(i / 32)] += weight;
      all += weight;
    }
    const auto largest = std::ranges::max_element(tiles);
    decided += *largest > part * all ? 1 : 0;
    deciding.insert(largest - tiles.begin());
    if (row == 0) {
      EXPECT_GT(tiles.front(), 0.1 * all) << "the first tile may be left out";
      EXPECT_GT(tiles.back(), 0.1 * all) << "the last tile may be left out";
    }
  }
  return decided;
}

TEST(DataMarks, OneTileDecidesARowOfASoftmax) {
  std::set<std::int64_t> deciding;
  EXPECT_GT(rows_decided(512, 0.3, deciding), 48);
  EXPECT_GT(deciding.size(), 8U);
}

// A bfloat16 sum of many tiles loses what follows one that outweighs them.
TEST(DataMarks, OfManyTilesNoneOutweighsAllOthers) {
  std::set<std::int64_t> deciding;
  EXPECT_GT(rows_decided(1536, 0.1, deciding), 48);
  EXPECT_LT(rows_decided(1536, 0.5, deciding), 4);
}

TEST(DataMarks, ASoftmaxDownColumnsIsDecidedByATileToo) {
  const Case made = made_of("ttnn.softmax(" + tensor("[1,1,256,64] BFLOAT16 TILE") + ", dim=-2)");
  double last = 0, all = 0;
  for (std::int64_t row = 0; row < 256; ++row) {
    const double weight = std::exp(made.inputs[0].at(row * 64));
    all += weight;
    last += row >= 224 ? weight : 0;
  }
  EXPECT_GT(last, 0.25 * all);
}

TEST(DataMarks, AScaledSoftmaxSeesWideLogits) {
  const Case made = made_of("ttnn.scale_mask_softmax_in_place(" + tensor("[1,1,32,256] BFLOAT16 TILE") +
                            ", 0.0625, mask=" + tensor("[1,1,32,256] BFLOAT16 TILE") + ")");
  EXPECT_GT(std::sqrt(over(made.inputs[0], 0, 32 * 256).variance) * 0.0625, 1);
}

TEST(DataMarks, ABiasCountsBesideTheSums) {
  const std::string operands = tensor("[1,1,32,4096] BFLOAT16 TILE") + ", " + tensor("[1,1,4096,256] BFLOAT16 TILE") +
                               ", bias=" + tensor("[1,1,1,256] BFLOAT16 TILE");
  const auto size = [](const HostTensor& bias) { return std::sqrt(over(bias, 0, bias.size()).variance); };
  const double plain = size(made_of("ttnn.linear(" + operands + ")").of("bias"));
  EXPECT_GT(plain, 4);
  EXPECT_LT(plain, 16);
}

// The share that a key has in what a query sees, if it sees `keys` of them.
double share(const Case& made, std::int64_t query, std::int64_t first_key, std::int64_t keys, std::int64_t key,
             double scale) {
  const HostTensor& q = made.of("input_tensor_q");
  const HostTensor& k = made.of("input_tensor_k");
  const std::int64_t dim = row_length(q.spec.shape);
  double all = 0, one = 0;
  for (std::int64_t p = 0; p < keys; ++p) {
    double score = 0;
    for (std::int64_t i = 0; i < dim; ++i) score += q.at(query * dim + i) * k.at((first_key + p) * dim + i);
    all += std::exp(score * scale);
    if (p == key) one = std::exp(score * scale);
  }
  return one / all;
}

TEST(DataMarks, KeysAtTheEdgeOfWhatIsSeenDecide) {
  const std::string heads = tensor("[1,2,128,64] BFLOAT16 TILE");
  const Case made = made_of("ttnn.transformer.scaled_dot_product_attention(" + heads + ", " + heads + ", " + heads +
                            ", is_causal=true)");
  int last = 0, next = 0;
  for (std::int64_t head = 0; head < 2; ++head)
    for (std::int64_t s = 0; s < 127; ++s) {
      last += share(made, head * 128 + s, head * 128, s + 1, s, 0.125) > 0.8 ? 1 : 0;
      next += share(made, head * 128 + s, head * 128, s + 2, s + 1, 0.125) > 0.8 ? 1 : 0;
    }
  EXPECT_GT(last, 50) << "the own key may be left out";
  EXPECT_GT(next, 50) << "the next key may be seen";
}

TEST(DataMarks, PositionsOfADecodeDecide) {
  const Case made =
      made_of("ttnn.transformer.scaled_dot_product_attention_decode(" + tensor("[1,8,32,64] BFLOAT16 TILE") + ", " +
              tensor("[8,1,1024,64] BFLOAT16 TILE") + ", " + tensor("[8,1,1024,64] BFLOAT16 TILE") +
              ", cur_pos_tensor=" + tensor("[8] INT32 ROW_MAJOR") + ")");
  const HostTensor& positions = made.of("cur_pos_tensor");
  int last = 0, next = 0, edges = 0;
  for (std::int64_t user = 0; user < 8; ++user) {
    const auto position = static_cast<std::int64_t>(positions.at(user));
    edges += position % 32 == 0 || position % 32 == 31 ? 1 : 0;
    for (std::int64_t head = 0; head < 32; ++head) {
      last += share(made, user * 32 + head, user * 1024, position + 1, position, 0.125) > 0.8 ? 1 : 0;
      next += share(made, user * 32 + head, user * 1024, position + 2, position + 1, 0.125) > 0.8 ? 1 : 0;
    }
  }
  EXPECT_GT(last, 50);
  EXPECT_GT(next, 50);
  EXPECT_GE(edges, 3);
}

TEST(DataMarks, CornersOfAFunctionAreAmongItsData) {
  const auto has = [](const HostTensor& tensor, double value) {
    return std::ranges::any_of(tensor.floats, [&](float v) { return static_cast<double>(v) == value; });
  };
  const Case clamp = made_of("ttnn.clamp(" + tensor("[32,64] BFLOAT16 TILE") + ", min=-0.5, max=2.0)");
  for (const double bound : {-0.5, 2.0})
    for (const double factor : {1.0, 1 - 0x1p-6, 1 + 0x1p-6}) EXPECT_TRUE(has(clamp.inputs[0], bound * factor));
  const Case relu = made_of("ttnn.relu(" + tensor("[32,64] BFLOAT16 TILE") + ")");
  EXPECT_TRUE(std::ranges::any_of(relu.inputs[0].floats, [](float v) { return v == 0 && std::signbit(v); }));
  EXPECT_TRUE(has(made_of("ttnn.tanh(" + tensor("[32,64] BFLOAT16 TILE") + ")").inputs[0], -8));
}

TEST(DataMarks, OtherRecipesHaveNone) {
  const std::string line = "ttnn.layer_norm(" + tensor("[1,1,64,1024] BFLOAT16 TILE") + ", epsilon=1e-05)";
  for (const Case& made : {made_of(line, {}, Marks::kOff), made_of(line, {.distribution = Distribution::kUniform01})}) {
    const double first = over(made.inputs[0], 0, 1024).variance;
    for (std::int64_t row = 1; row < 64; ++row)
      EXPECT_NEAR(over(made.inputs[0], row * 1024, 1024).variance / first, 1, 0.4);
  }
}

}  // namespace
}  // namespace opwright
