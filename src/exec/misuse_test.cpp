#include "exec/misuse.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "dialect/ttnn/board.h"
#include "exec/case_data.h"
#include "exec/case_line.h"
#include "model/quantize.h"

namespace opwright {
namespace {

struct Prepared {
  PlannedCall plan;
  std::vector<HostTensor> inputs;
  Rows rows;
};

Prepared prepared(std::string_view line) {
  const auto config = parse_case(line);
  EXPECT_TRUE(config.has_value()) << line;
  auto plan = plan_call(*config, Board{});
  EXPECT_TRUE(plan.has_value()) << (plan ? "" : plan.error().message);
  Prepared out{*plan, {}, {}};
  out.inputs = make_inputs(*out.plan.op, out.plan.call, {}, Marks::kOff);
  const Shape& shape = out.plan.outputs[0].spec.shape;
  out.rows.length = row_length(shape);
  out.rows.total = volume(shape) / out.rows.length;
  return out;
}

std::vector<Misused> asked(Prepared& of) {
  std::string why_none;
  auto out = try_misuse(of.plan, of.inputs, 0, of.rows, {}, {}, why_none);
  EXPECT_EQ(why_none, "");
  return out;
}

const Misused* find(const std::vector<Misused>& all, std::string_view name, std::string_view operand = "") {
  const auto found = std::ranges::find_if(
      all, [&](const Misused& one) { return one.name == name && (operand.empty() || one.operand == operand); });
  return found == all.end() ? nullptr : &*found;
}

const std::string kTensor = "BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED))";

std::string norm_line() {
  return "ttnn.layer_norm(input_tensor=tensor([1,1,64,96] " + kTensor + ", epsilon=0.5, weight=tensor([1,1,1,96] " +
         kTensor + ", bias=tensor([1,1,1,96] " + kTensor + ")";
}

TEST(Misuse, LeavesTheInputsAsTheyWere) {
  Prepared norm = prepared(norm_line());
  const std::vector<HostTensor> before = norm.inputs;
  EXPECT_FALSE(asked(norm).empty());
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(before[i].floats, norm.inputs[i].floats);
}

// The wrong implementation must be right but for its mistake: rows whose statistics are those of row 0 do not change.
TEST(Misuse, StatisticsOfAnotherRowChangeWhatHasOtherStatistics) {
  Prepared norm = prepared(norm_line());
  std::vector<float>& values = norm.inputs[0].floats;
  for (std::size_t i = 96; i < values.size(); ++i) values[i] = values[i % 96];
  EXPECT_EQ(find(asked(norm), "statistics of row 0"), nullptr);
  // Rows of twice the size: with epsilon 0 they would be normalised by half of what is due, and be twice as large.
  for (std::size_t i = 96; i < values.size(); ++i) values[i] *= 2;
  norm.plan.call.set("epsilon", Value(0.0));
  for (float& shift : norm.inputs[2].floats) shift = 0;
  const auto answers = asked(norm);
  const Misused* one = find(answers, "statistics of row 0");
  ASSERT_NE(one, nullptr);
  EXPECT_NEAR(one->change, 1.0, 0.02);
  EXPECT_TRUE(one->noticed);
}

TEST(Misuse, GroupsAreToldApart) {
  Prepared norm = prepared("ttnn.group_norm(input_tensor=tensor([1,1,64,64] " + kTensor +
                           ", num_groups=2, epsilon=0.00001, inplace=false)");
  for (std::size_t i = 0; i < norm.inputs[0].floats.size(); ++i)
    if (i % 64 >= 32) norm.inputs[0].floats[i] *= 4;
  const auto answers = asked(norm);
  for (const std::string_view name : {"group 1", "wrong group"}) {
    const Misused* one = find(answers, name);
    ASSERT_NE(one, nullptr) << name;
    EXPECT_TRUE(one->noticed && one->large()) << name;
  }
}

TEST(Misuse, HeadsThatShareKeysAreToldApart) {
  const auto tensor = [](std::string_view shape) {
    return "tensor([" + std::string(shape) + "] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED))";
  };
  const auto modulo = [&](const std::string& queries, const std::string& keys) {
    Prepared of = prepared("ttnn.transformer.scaled_dot_product_attention(" + tensor(queries) + ", " + tensor(keys) +
                           ", " + tensor(keys) + ")");
    return std::ranges::count_if(asked(of),
                                 [](const Misused& one) { return one.name == "kv head modulo" && one.noticed; });
  };
  EXPECT_EQ(modulo("1,6,64,64", "1,3,64,64"), 1);
  EXPECT_EQ(modulo("1,6,64,64", "1,6,64,64"), 0) << "every head has keys of its own";
}

TEST(Misuse, AMissingBiasIsAskedWhereThereIsOne) {
  const std::string line =
      "ttnn.linear(input_tensor_a=tensor([1,1,32,64] " + kTensor + ", input_tensor_b=tensor([1,1,64,32] " + kTensor;
  Prepared without = prepared(line + ")");
  EXPECT_EQ(find(asked(without), "missing bias"), nullptr);
  Prepared with = prepared(line + ", bias=tensor([1,1,1,32] " + kTensor + ")");
  for (float& value : with.inputs[2].floats) value = 16;
  const auto answers = asked(with);
  ASSERT_NE(find(answers, "missing bias", "bias"), nullptr);
  EXPECT_TRUE(find(answers, "missing bias", "bias")->noticed);
  // Nothing changes, nothing is asked.
  for (float& value : with.inputs[2].floats) value = 0;
  EXPECT_EQ(find(asked(with), "missing bias", "bias"), nullptr);
}

TEST(Misuse, WhatIsNotNoticedSaysWhy) {
  Prepared norm = prepared("ttnn.rms_norm(input_tensor=tensor([1,1,64,96] " + kTensor + ", epsilon=0.001)");
  const auto answers = asked(norm);
  const Misused* one = find(answers, "epsilon outside the root");
  ASSERT_NE(one, nullptr);
  EXPECT_FALSE(one->noticed || one->large());
  EXPECT_NE(one->why.find("of the bound"), std::string::npos) << one->why;
}

// A plain run names what it is blind to: a bias that drowns in what a long sum may be off by.
TEST(Misuse, APassSaysWhatItIsBlindTo) {
  Prepared wide =
      prepared("ttnn.linear(input_tensor_a=tensor([1,1,32,2048] " + kTensor + ", input_tensor_b=tensor([1,1,2048,32] " +
               kTensor + ", bias=tensor([1,1,1,32] " + kTensor + ")");
  const auto ask = [&] { return blind_to(wide.plan, wide.inputs, 0, wide.rows, {}, {}); };
  std::vector<float>& bias = wide.inputs[2].floats;
  for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = i % 2 == 0 ? 1.0F : -1.0F;
  const std::vector<std::string> said = ask();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("missing bias: bias changes the output by"), std::string::npos) << said[0];
  for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = i % 2 == 0 ? 64.0F : -64.0F;
  EXPECT_TRUE(ask().empty());
}

TEST(Misuse, SumsOfASoftmaxRow) {
  Prepared softmax = prepared("ttnn.softmax(input_tensor=tensor([1,1,32,72] " + kTensor + ", dim=-1)");
  // The last tile of a row decides it.
  for (std::size_t i = 0; i < softmax.inputs[0].floats.size(); ++i)
    softmax.inputs[0].floats[i] = i % 72 >= 64 ? 4.0F : static_cast<float>(i % 3);
  const auto answers = asked(softmax);
  for (const std::string_view name : {"last tile of the sum dropped", "statistics of half the row"}) {
    const Misused* one = find(answers, name);
    ASSERT_NE(one, nullptr) << name;
    EXPECT_TRUE(one->noticed) << name;
  }
  ASSERT_NE(find(answers, "padding taken as data"), nullptr);
  EXPECT_EQ(find(answers, "statistics of row 0"), nullptr) << "all rows have the same sum";
}

TEST(Misuse, AnActivationIsIgnoredOrReplaced) {
  Prepared add = prepared("ttnn.add(input_tensor_a=tensor([1,1,32,32] " + kTensor +
                          ", input_tensor_b=tensor([1,1,32,32] " + kTensor + ", activations=[\"sigmoid\"])");
  const auto answers = asked(add);
  ASSERT_NE(find(answers, "activation ignored", "activations"), nullptr);
  EXPECT_TRUE(find(answers, "activation ignored")->noticed);
  ASSERT_NE(find(answers, "activation approximated", "hard sigmoid"), nullptr);
}

}  // namespace
}  // namespace opwright
