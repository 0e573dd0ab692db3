// Every tensor of every operator has a role, the data keeps the role's law, and the documentation says so.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "compare/judge.h"
#include "device/device.h"
#include "exec/case_data.h"
#include "exec/case_line.h"
#include "exec/example_cases.h"
#include "exec/output_fields.h"
#include "exec/plan_call.h"
#include "exec/whole_numbers.h"
#include "ops/all_ops.h"

namespace opwright {
namespace {

constexpr Distribution kAll[] = {Distribution::kNormal, Distribution::kUniform01, Distribution::kPositive,
                                 Distribution::kIntegers};

PlannedCall plan_of(std::string_view line) {
  const auto config = parse_case(line);
  EXPECT_TRUE(config.has_value()) << line;
  auto plan = plan_call(*config, *find_board("n150"));
  EXPECT_TRUE(plan.has_value()) << line << ": " << (plan ? "" : plan.error().message);
  return std::move(*plan);
}

TEST(DataRoles, EveryParameterThatTakesATensorHasOne) {
  constexpr std::string_view kTensorNames[] = {"tensor", "weight", "bias", "cache", "page_table", "mask", "stats"};
  // The operator refuses these, or they are one number.
  constexpr std::string_view kNoData[] = {"valid_seq_len_tensor", "windowed_q_token_offset_tensor", "is_causal_mask",
                                          "share_cache",          "return_weights_and_bias",        "causal_mask"};
  // Made of numbers alone.
  constexpr std::string_view kNoTensors[] = {"ttnn.arange"};
  for (const OpSpec* op : all_ops()) {
    const bool without = std::ranges::find(kNoTensors, op->name) != std::end(kNoTensors);
    const bool takes_one = std::ranges::any_of(op->params, [](const Param& param) { return param.role.has_value(); });
    EXPECT_TRUE(without ? !takes_one : takes_one || op->constant) << op->name;
    for (const Param& param : op->params) {
      const bool tensor =
          std::ranges::any_of(kTensorNames, [&](std::string_view name) { return param.name.ends_with(name); });
      if (!tensor || std::ranges::find(kNoData, param.name) != std::end(kNoData)) continue;
      EXPECT_TRUE(param.role.has_value()) << op->name << " " << param.name << ": which role has it?";
    }
  }
}

TEST(DataRoles, EveryTensorOfTheExamplesHasARole) {
  for (const std::string_view line : example_cases()) {
    const PlannedCall plan = plan_of(line);
    for (const TensorSlot& slot : plan.call.tensors)
      EXPECT_TRUE(role_of(*plan.op, slot.param).has_value()) << plan.op->name << " " << slot.param;
  }
}

// How many places a position may name: of a cache, or of the dimension that an index goes along.
std::int64_t positions_of(const PlannedCall& plan) {
  std::int64_t length = 0;
  if (const TensorSpec* input = plan.call.tensor("input"); input != nullptr && plan.call.tensor("index") != nullptr) {
    const auto rank = static_cast<std::int64_t>(input->shape.size());
    const std::int64_t dim = plan.call.integer("dim", 0).value_or(0);
    return input->shape[static_cast<std::size_t>(dim < 0 ? dim + rank : dim)];
  }
  for (const char* cache : {"cache_tensor", "cache_tensor1", "input_tensor_k"})
    if (const TensorSpec* spec = plan.call.tensor(cache)) length = spec->shape[2];
  for (const char* pages : {"page_table", "page_table_tensor"})
    if (const TensorSpec* spec = plan.call.tensor(pages)) length *= spec->shape.back();
  return length;
}

// What must be true of the data of a role, whatever the seed and the distribution.
void expect_law(const PlannedCall& plan, const HostTensor& tensor, Role role, const std::string& where) {
  const auto all = [&](auto&& holds) {
    for (std::int64_t i = 0; i < tensor.size(); ++i)
      if (!holds(tensor.at(i))) return false;
    return true;
  };
  const auto below = [&](std::int64_t n) {
    return all([n](double v) { return v >= 0 && v < static_cast<double>(n) && v == std::floor(v); });
  };
  const std::int64_t width = row_length(tensor.spec.shape);
  switch (role) {
    case Role::kPositive:
      EXPECT_TRUE(all([](double v) { return v > 0; })) << where;
      break;
    case Role::kAboveOne:
      EXPECT_TRUE(all([](double v) { return v >= 1; })) << where;
      break;
    case Role::kUnbounded: {
      std::int64_t counts[4] = {};  // numbers, infinite ones of either sign, none at all
      for (std::int64_t i = 0; i < tensor.size(); ++i) {
        const double v = tensor.at(i);
        ++counts[std::isnan(v) ? 3 : std::isfinite(v) ? 0 : v > 0 ? 1 : 2];
      }
      EXPECT_GT(counts[0], 3 * tensor.size() / 4) << where;
      for (const int kind : {1, 2, 3}) {
        EXPECT_GT(counts[kind], tensor.size() / 100) << where;
        EXPECT_LT(counts[kind], tensor.size() / 16) << where;
      }
      break;
    }
    case Role::kNonZero:
      EXPECT_TRUE(all([](double v) { return v != 0; })) << where;
      break;
    case Role::kTokenIds: {
      const Shape& table = plan.call.tensor("weight")->shape;
      EXPECT_TRUE(below(table[table.size() - 2])) << where;
      break;
    }
    case Role::kPages: {
      std::int64_t blocks = 0;
      for (const char* cache : {"cache_tensor", "cache_tensor1", "input_tensor_k"})
        if (const TensorSpec* spec = plan.call.tensor(cache)) blocks = spec->shape[0];
      EXPECT_TRUE(below(blocks)) << where;
      if (tensor.size() <= blocks) {
        EXPECT_EQ(std::set<std::int64_t>(tensor.ints.begin(), tensor.ints.end()).size(), tensor.ints.size()) << where;
      }
      break;
    }
    case Role::kUsers: {
      const std::int64_t users = plan.call.tensor("page_table")->shape[0];
      EXPECT_TRUE(below(users)) << where;
      break;
    }
    case Role::kPositions:
      EXPECT_TRUE(below(positions_of(plan))) << where;
      break;
    case Role::kOffsets:
      EXPECT_TRUE(below(plan.call.tensor("input_tensor")->shape[2])) << where;
      break;
    case Role::kMask:
      for (std::int64_t i = 0; i < tensor.size(); ++i) {
        EXPECT_TRUE(tensor.at(i) == 0 || tensor.at(i) < -1000) << where;
        if (i % width == 0) {
          EXPECT_EQ(tensor.at(i), 0) << where << ": a row that sees nothing";
        }
      }
      break;
    case Role::kPredicate:
    case Role::kChannels:
      EXPECT_TRUE(below(2)) << where;
      break;
    case Role::kCosines:
    case Role::kSines:
    case Role::kRotation:
      EXPECT_TRUE(all([](double v) { return std::abs(v) <= 1; })) << where;
      break;
    case Role::kIndices:
      for (std::int64_t i = 0; i < tensor.size(); ++i) ASSERT_EQ(tensor.at(i), i % width) << where;
      break;
    case Role::kRanked:
      for (std::int64_t start = 0; start < tensor.size(); start += width) {
        std::vector<double> row;
        for (std::int64_t i = start; i < start + width; ++i) row.push_back(tensor.at(i));
        std::ranges::sort(row, std::greater());
        // Different ones, or each three times.
        const std::size_t different = std::min<std::size_t>(row.size(), 190);
        const bool tied = row.size() > 1 && row[0] == row[1];
        const auto step = [&](std::size_t i, std::size_t place) {
          if (tied && place % 3 != 0)
            ASSERT_EQ(row[i - 1], row[i]) << where;
          else
            ASSERT_GT(row[i - 1], row[i]) << where;
        };
        for (std::size_t i = 1; i < different / 2; ++i) step(i, i);
        for (std::size_t i = row.size() - different / 2 + 1; i < row.size(); ++i) step(i, row.size() - i);
      }
      break;
    case Role::kReciprocals:
      EXPECT_TRUE(all([](double v) { return v > 0 && v <= 1; })) << where;
      break;
    case Role::kCoarse:
      EXPECT_TRUE(all([](double v) { return 2 * v == std::floor(2 * v); })) << where;
      break;
    default:
      EXPECT_TRUE(all([](double v) { return std::isfinite(v); })) << where;
  }
}

void expect_laws(std::string_view line) {
  const PlannedCall plan = plan_of(line);
  for (const Distribution distribution : kAll)
    for (const std::uint64_t seed : {1, 2}) {
      const auto inputs = make_inputs(*plan.op, plan.call, {distribution, seed});
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::string& param = plan.call.tensors[i].param;
        ASSERT_EQ(static_cast<std::int64_t>(inputs[i].integer() ? inputs[i].ints.size() : inputs[i].floats.size()),
                  inputs[i].size());
        expect_law(plan, inputs[i], role_of(*plan.op, param).value_or(Role::kPlain),
                   std::string(plan.op->name) + " " + param + " " + std::string(name_of(distribution)));
      }
    }
}

TEST(DataRoles, DataKeepsTheLawOfItsRole) {
  for (const std::string_view line : example_cases()) expect_laws(line);
}

// Parameters that no example has.
TEST(DataRoles, RareParametersKeepTheirLawToo) {
  const std::string dram = "memory(DRAM INTERLEAVED)";
  const auto tensor = [&](const std::string& what) { return "tensor(" + what + " DEVICE " + dram + ")"; };
  const std::string heads = tensor("[1,4,64,64] BFLOAT16 TILE");
  for (const char* dtype : {"BFLOAT16", "BFLOAT8_B", "BFLOAT4_B"})
    expect_laws("ttnn.transformer.scaled_dot_product_attention(" + heads + ", " + heads + ", " + heads +
                ", attn_mask=" + tensor(std::string("[1,1,64,64] ") + dtype + " TILE") + ", is_causal=false)");
  expect_laws("ttnn.topk(" + tensor("[1,1,32,8192] BFLOAT16 TILE") + ", 32)");
  expect_laws("ttnn.where(" + tensor("[32,32] BFLOAT16 TILE") + ", " + tensor("[32,32] BFLOAT16 TILE") + ", 0.0)");
  expect_laws("ttnn.div(" + tensor("[32,32] BFLOAT8_B TILE") + ", " + tensor("[32,32] BFLOAT8_B TILE") + ")");
  expect_laws("ttnn.eq(" + tensor("[32,32] FLOAT32 TILE") + ", " + tensor("[32,32] FLOAT32 TILE") + ")");
}

TEST(DataRoles, EqualValuesMeetInComparisons) {
  const PlannedCall plan = plan_of(
      "ttnn.eq(tensor([64,64] FLOAT32 TILE DEVICE memory(DRAM INTERLEAVED)), tensor([64,64] FLOAT32 TILE "
      "DEVICE memory(DRAM INTERLEAVED)))");
  const auto inputs = make_inputs(*plan.op, plan.call, {});
  int equal = 0;
  for (std::int64_t i = 0; i < inputs[0].size(); ++i) equal += inputs[0].at(i) == inputs[1].at(i) ? 1 : 0;
  EXPECT_GT(equal, 200);
  EXPECT_LT(equal, 2000);
}

// On whole numbers the simulated device must be exact where `exact_on_integers` says so, and that is not nowhere.
TEST(DataRoles, WholeNumbersAreExact) {
  auto device = open_device("sim:n150");
  ASSERT_TRUE(device.has_value());
  std::set<std::string_view> ops;
  const std::string matmul =
      "ttnn.matmul(tensor([1,1,64,2048] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)), tensor([1,1,2048,96] BFLOAT8_B "
      "TILE DEVICE memory(DRAM INTERLEAVED)))";
  std::vector<std::string> lines{matmul};
  for (const std::string_view line : example_cases()) lines.emplace_back(line);
  for (const std::string& line : lines) {
    const PlannedCall plan = plan_of(line);
    const auto inputs = make_inputs(plan, {Distribution::kIntegers, 1});
    const auto ran = (*device)->run({plan.call, plan.outputs}, inputs);
    ASSERT_TRUE(ran.has_value()) << line << ": " << ran.error().message;
    for (std::size_t o = 0; o < plan.outputs.size(); ++o) {
      if (has_own_form(plan.outputs[o]) || !exact_on_integers(*plan.op, plan.call, plan.outputs, o)) continue;
      ops.insert(plan.op->name);
      Rows rows;
      rows.length = std::max<std::int64_t>(1, row_length(plan.outputs[o].spec.shape));
      rows.total = volume(plan.outputs[o].spec.shape) / rows.length;
      const auto exact = plan.op->reference({plan.call, inputs, plan.outputs, o, rows});
      ASSERT_TRUE(exact.has_value()) << line;
      const ErrorBudget budget = budget_for({Distribution::kIntegers, 1}, *plan.op, plan.call, plan.outputs, o);
      EXPECT_TRUE(budget.kind == ErrorBudget::Kind::kExact || budget.kind == ErrorBudget::Kind::kSelection);
      const Verdict verdict = judge({.wanted = plan.outputs[o].spec,
                                     .actual = ran->outputs[o],
                                     .budget = budget,
                                     .value = exact->value,
                                     .magnitude = {},
                                     .rows = {},
                                     .constant = plan.op->constant});
      EXPECT_EQ(verdict.outcome, Outcome::kPassed) << line << ": " << to_text(verdict);
    }
  }
  for (const char* op : {"ttnn.matmul", "ttnn.add", "ttnn.multiply", "ttnn.sum", "ttnn.reshape", "ttnn.max"})
    EXPECT_TRUE(ops.contains(op)) << op;
}

// The same bytes on every machine: these were taken on one, and must come out everywhere.
std::uint64_t hash_of(const std::vector<HostTensor>& tensors) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  const auto add = [&](std::uint64_t word) { hash = std::rotl((hash ^ word) * 0x9E3779B97F4A7C15ULL, 27); };
  for (const HostTensor& tensor : tensors) {
    for (const float value : tensor.floats) add(std::bit_cast<std::uint32_t>(value));
    for (const std::int64_t value : tensor.ints) add(static_cast<std::uint64_t>(value));
  }
  return hash;
}

TEST(DataRoles, RecipesGiveTheBytesTheyAlwaysGave) {
  const std::string dram = " DEVICE memory(DRAM INTERLEAVED))";
  struct Golden {
    std::string line;
    Distribution distribution;
    std::uint64_t seed, hash;
  };
  const Golden golden[] = {
      {"ttnn.relu(tensor([1,1,64,96] FLOAT32 TILE" + dram + ")", Distribution::kNormal, 1, 0x6B38593D5514F4AFULL},
      {"ttnn.relu(tensor([1,1,64,96] BFLOAT8_B TILE" + dram + ")", Distribution::kUniform01, 7, 0x67FA98691C3F27A6ULL},
      {"ttnn.matmul(tensor([64,512] BFLOAT16 TILE" + dram + ", tensor([512,64] BFLOAT4_B TILE" + dram + ")",
       Distribution::kIntegers, 3, 0x84CA934BD6EA7AD2ULL},
      {"ttnn.embedding(tensor([1,32] UINT32 ROW_MAJOR" + dram + ", tensor([512,64] BFLOAT16 ROW_MAJOR" + dram + ")",
       Distribution::kNormal, 1, 0x8743110F604F89D2ULL},
      {"ttnn.experimental.rotary_embedding(tensor([1,2,64,64] BFLOAT16 TILE" + dram +
           ", tensor([1,1,64,64] BFLOAT16 TILE" + dram + ", tensor([1,1,64,64] BFLOAT16 TILE" + dram + ")",
       Distribution::kNormal, 1, 0xCCBAA70221404F48ULL},
      {"ttnn.concat([tensor([1024,1024] BFLOAT16 TILE" + dram + ",tensor([1024,1024] INT32 TILE" + dram + "], dim=0)",
       Distribution::kPositive, 1, 0x95C82F2AB797112BULL},
  };
  for (const Golden& each : golden) {
    const auto config = parse_case(each.line);
    ASSERT_TRUE(config.has_value()) << each.line;
    const OpSpec* op = find_op(config->op);
    const auto call = bind(*op, *config);
    ASSERT_TRUE(call.has_value()) << each.line;
    const std::uint64_t hash = hash_of(make_inputs(*op, *call, {each.distribution, each.seed}));
    EXPECT_EQ(hash, each.hash) << each.line << " gives 0x" << std::hex << hash;
  }
}

std::string table() {
  std::ostringstream out;
  out << "| role | data |\n| --- | --- |\n";
  for (const Role role : all_roles()) out << "| " << name_of(role) << " | " << about(role) << " |\n";
  out << "\n| operator | tensors |\n| --- | --- |\n";
  for (const OpSpec* op : all_ops()) {
    out << "| `" << op->name << "` |";
    std::string between = " ";
    for (const Param& param : op->params) {
      if (!param.role) continue;
      out << between << "`" << param.name << "` " << name_of(*param.role);
      between = ", ";
    }
    out << (between == " " ? " none |\n" : " |\n");
  }
  return out.str();
}

// OPWRIGHT_UPDATE_DOCS=1 renews the table; read the difference before it is committed.
TEST(DataRoles, TheDocumentationHasTheTable) {
  const std::string path = std::string(OPWRIGHT_SOURCE_DIR) + "/docs/formats/data-recipes.md";
  constexpr std::string_view kBegin = "<!-- roles: written by exec/data_roles_test.cpp -->\n";
  constexpr std::string_view kEnd = "<!-- end of roles -->";
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t begin = text.find(kBegin);
  const std::size_t end = text.find(kEnd);
  ASSERT_NE(begin, std::string::npos) << path;
  ASSERT_NE(end, std::string::npos) << path;
  const std::size_t from = begin + kBegin.size();
  if (std::getenv("OPWRIGHT_UPDATE_DOCS") != nullptr && text.substr(from, end - from) != table()) {
    std::ofstream(path) << text.replace(from, end - from, table());
    GTEST_SKIP() << "renewed " << path;
  }
  EXPECT_EQ(text.substr(from, end - from), table());
}

}  // namespace
}  // namespace opwright
