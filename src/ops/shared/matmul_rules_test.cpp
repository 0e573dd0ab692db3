#include "ops/shared/matmul_rules.h"

#include <gtest/gtest.h>

namespace opwright {
namespace {

// Partial sums that wait in the output's format are rounded each time where that is a block float, and only there.
TEST(ContractionBudget, SpillsIntoBlockFloatsAreRoundings) {
  const auto ulps = [](DType out, bool l1_acc, bool fp32_acc, std::int64_t block) {
    Contraction c{.terms = 1600, .block = block, .out = out, .steps = 1};
    c.config.l1_acc = l1_acc;
    c.config.fp32_acc = fp32_acc;
    return contraction_budget(c).ulps;
  };
  EXPECT_DOUBLE_EQ(ulps(DType::kBfloat8B, false, false, 160), 2.0 + 3.0);  // nine spills
  EXPECT_DOUBLE_EQ(ulps(DType::kBfloat8B, false, false, 1600), 2.0);
  EXPECT_DOUBLE_EQ(ulps(DType::kBfloat8B, false, false, 0), 2.0);
  EXPECT_DOUBLE_EQ(ulps(DType::kBfloat8B, true, false, 160), 2.0);
  EXPECT_DOUBLE_EQ(ulps(DType::kBfloat8B, false, true, 160), 2.0);
  EXPECT_DOUBLE_EQ(ulps(DType::kBfloat16, false, false, 160), 2.0);
}

}  // namespace
}  // namespace opwright
