#include "exec/size_class.h"

#include <gtest/gtest.h>

#include "exec/case_line.h"

namespace opwright {
namespace {

std::string tensor(const std::string& shape, const std::string& dtype = "BFLOAT16",
                   const std::string& memory = "DRAM INTERLEAVED") {
  return "tensor(" + shape + " " + dtype + " TILE DEVICE memory(" + memory + "))";
}

CaseEstimate estimate_of(const std::string& line, CostModel cost = CostModel::kSimulated) {
  const auto config = parse_case(line);
  EXPECT_TRUE(config.has_value()) << line;
  return estimate(*config, *find_board("n150"), cost);
}

TEST(SizeClass, LimitsBelongToTheSmallerClass) {
  EXPECT_EQ(size_class(0), SizeClass::kTiny);
  EXPECT_EQ(size_class(1 << 16), SizeClass::kTiny);
  EXPECT_EQ(size_class((1 << 16) + 1), SizeClass::kSmall);
  EXPECT_EQ(size_class(1 << 22), SizeClass::kMedium);
  EXPECT_EQ(size_class((1 << 26) + 1), SizeClass::kHuge);
}

TEST(Estimate, CountsInputsAndOutputsAsTheyLieInAWorker) {
  const std::string a = tensor("[1,1,1024,1024]");
  const CaseEstimate add = estimate_of("ttnn.add(arg0=" + a + ", arg1=" + a + ")");
  EXPECT_TRUE(add.outputs_known);
  EXPECT_EQ(add.elements, 3 << 20);
  EXPECT_GE(add.bytes, (2 + 2) * 4 * (1 << 20) + 16 * (1 << 20));
  EXPECT_LT(add.bytes, 64 << 20);
  EXPECT_EQ(add.features.dtype, DType::kBfloat16);
  EXPECT_EQ(add.features.layout, Layout::kTile);
  EXPECT_EQ(memory_text(add.features), "DRAM INTERLEAVED");
  EXPECT_EQ(add.features.size, SizeClass::kMedium);
  const std::string ids = tensor("[1,1,1024,1024]", "UINT32");
  EXPECT_GT(estimate_of("ttnn.reshape(arg0=" + ids + ", arg1=[1,1,512,2048])").bytes,
            estimate_of("ttnn.reshape(arg0=" + a + ", arg1=[1,1,512,2048])").bytes);
}

TEST(Estimate, HugeOutputsAreJudgedByASampleAndCostNoMoreThanThat) {
  const std::string large = tensor("[1,1,8192,8192]");
  const CaseEstimate relu = estimate_of("ttnn.relu(arg0=" + large + ")");
  const std::int64_t all_in_double = std::int64_t{16} << 26;
  EXPECT_LT(relu.bytes, all_in_double);
  const CaseEstimate product = estimate_of("ttnn.matmul(arg0=" + large + ", arg1=" + large + ")");
  EXPECT_GT(product.seconds, relu.seconds);
  EXPECT_LT(product.seconds, 10.0) << "5e11 multiply-adds, of which 4e9 are done";
}

TEST(Estimate, WhatIsRefusedCostsNothingHereButMayRunElsewhere) {
  const std::string a = tensor("[1,1,1024,1024]");
  const std::string line = "ttnn.nobody_knows(arg0=" + a + ")";
  const CaseEstimate here = estimate_of(line);
  EXPECT_FALSE(here.outputs_known);
  EXPECT_LT(here.seconds, 1e-3);
  EXPECT_EQ(here.elements, 1 << 20);
  const CaseEstimate elsewhere = estimate_of(line, CostModel::kExternal);
  EXPECT_GE(elsewhere.bytes, 12 << 20);
  const std::string add = "ttnn.add(arg0=" + a + ", arg1=" + a + ")";
  EXPECT_LT(estimate_of(add, CostModel::kAccept).bytes, estimate_of(add).bytes);
}

TEST(Estimate, NonsenseShapesDoNotOverflow) {
  const CaseEstimate huge =
      estimate_of("ttnn.nobody_knows(arg0=" + tensor("[4000000000,4000000000,4000000000]") + ")", CostModel::kExternal);
  EXPECT_GT(huge.bytes, std::int64_t{1} << 40);
  EXPECT_EQ(huge.features.size, SizeClass::kHuge);
}

}  // namespace
}  // namespace opwright
