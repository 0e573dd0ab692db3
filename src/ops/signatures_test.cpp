#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "dialect/dialect.h"
#include "model/case_line.h"
#include "ops/all_ops.h"

namespace opwright {
namespace {

std::vector<std::string_view> names(std::string_view op) {
  const auto signature = signature_of(op);
  return {signature.begin(), signature.end()};
}

TEST(Signatures, NamesByPosition) {
  EXPECT_EQ(names("ttnn.add"), (std::vector<std::string_view>{"input_tensor_a", "input_tensor_b"}));
  EXPECT_EQ(names("ttnn.softmax"), (std::vector<std::string_view>{"input_tensor", "dim"}));
}

TEST(Signatures, AnOperationWithoutOneHasNoNames) {
  for (const char* op : {"ttnn.no_such_operation", "ttnn::add", "add", "", "#"})
    EXPECT_TRUE(signature_of(op).empty()) << op;
}

// The table and the operators' parameters are one description: the parameters begin with the names of the signature, in
// its order, and an operator speaks of a position only where the signature ends.
TEST(Signatures, EveryOperatorAgrees) {
  for (const OpSpec* op : all_ops()) {
    const auto signature = names(op->name);
    std::vector<std::string_view> first;
    for (const Param& param : op->params)
      if (first.size() < signature.size()) first.push_back(param.name);
    EXPECT_EQ(first, signature) << op->name;
    std::set<int> places;
    for (const Param& param : op->params) {
      if (param.place < 0) continue;
      EXPECT_GE(param.place, static_cast<int>(signature.size())) << op->name << ' ' << param.name;
      EXPECT_TRUE(places.insert(param.place).second) << op->name << ' ' << param.name;
    }
    int next = static_cast<int>(signature.size());
    for (const int place : places) EXPECT_EQ(place, next++) << op->name << ": a position is left out";
  }
}

TEST(Signatures, AliasesAgree) {
  for (const OpSpec* op : all_ops())
    for (const std::string_view alias : op->aliases) {
      const auto signature = names(alias);
      for (std::size_t i = 0; i < signature.size(); ++i) {
        const Param* param = find_param(*op, Convention::kPython, "arg" + std::to_string(i));
        ASSERT_NE(param, nullptr) << alias << " position " << i;
        EXPECT_EQ(param->name, signature[i]) << alias;
      }
    }
}

// Only what the library takes by position has one: its memory config does not.
TEST(Signatures, APositionIsWhatTheLibraryMakesOfIt) {
  const auto bound = [](const std::string& rest) {
    const auto config = parse_case("ttnn." + rest);
    return bind(*find_op(config->op), *config);
  };
  const std::string tensor = "tensor([1,32,64,32] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED))";
  for (const std::string& rest : {"permute(" + tensor + ", [0,2,1,3], 0.5)", "transpose(" + tensor + ", 1, 2, 0.5)"}) {
    const auto call = bound(rest);
    ASSERT_TRUE(call.has_value()) << rest;
    EXPECT_EQ(call->number("pad_value", 0).value(), 0.5) << rest;
    EXPECT_FALSE(call->passed("memory_config")) << rest;
  }
  const auto beyond = bound("abs(" + tensor + ", memory(L1 INTERLEAVED))");
  ASSERT_FALSE(beyond.has_value());
  EXPECT_EQ(beyond.error().message, "ttnn.abs takes only input_tensor by position: give the others by name");
}

}  // namespace
}  // namespace opwright
