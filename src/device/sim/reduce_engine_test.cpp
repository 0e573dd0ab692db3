// The matrix engine's arithmetic on values that real kernels were seen to compute.
#include "device/sim/reduce_engine.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "device/sim/norm_rows.h"
#include "device/sim/softmax_rows.h"

namespace opwright::sim {
namespace {

constexpr EngineMode kNarrow{Fidelity::kHiFi4, Dst::kBf16};
constexpr EngineMode kWide{Fidelity::kHiFi4, Dst::kFp32};

TEST(ReduceEngine, AddendsAreAlignedBeforeTheyAreAdded) {
  // 0.451171875 is 115.5 units of the larger one's tenth fraction bit: it goes up, and the sum then ties away.
  EXPECT_EQ(fpu_add(-0.451171875F, -6.0F, Dst::kBf16), -6.46875F);
  EXPECT_EQ(fpu_add(0.298828125F, -4.65625F, Dst::kBf16), -4.34375F);
  EXPECT_EQ(fpu_add(1.0F, 0.00390625F, Dst::kBf16), 1.0078125F);  // a tie: away from zero, not to even
}

TEST(ReduceEngine, ProductsRoundAfterEveryPhase) {
  EXPECT_EQ(fpu_mul(0.1337890625F, 0.234375F, kNarrow), 0.03125F);
  EXPECT_EQ(fpu_mul(1.171875F, 1.3046875F, {Fidelity::kLoFi, Dst::kFp32}), 1.458984375F);
  EXPECT_EQ(fpu_mul(1.171875F, 1.3046875F, {Fidelity::kHiFi2, Dst::kFp32}), 1.519775390625F);
  EXPECT_EQ(fpu_mul(1.171875F, 1.3046875F, {Fidelity::kHiFi3, Dst::kFp32}), 1.528564453125F);
  EXPECT_EQ(fpu_mul(1.171875F, 1.3046875F, kWide), 1.5289306640625F);
}

TEST(ReduceEngine, NegativeGroupsRoundUp) {
  EXPECT_EQ(fpu_mul(0.2333984375F, 0.53125F, kNarrow), 0.12451171875F);
  EXPECT_EQ(fpu_mul(0.2333984375F, -0.53125F, kNarrow), -0.1240234375F);
}

TEST(ReduceEngine, SumsOfRowsAndColumnsAreExactWhereNothingIsLost) {
  std::vector<float> ones(70, 1.0F);
  EXPECT_EQ(fpu_row_sum(ones, 1.0F, kWide), 70.0F);
  EXPECT_EQ(fpu_row_sum(ones, 0.5F, kWide), 35.0F);
  EXPECT_EQ(fpu_row_sum({}, 1.0F, kWide), 0.0F);
  std::array<float, 2> sums{};
  fpu_column_sums(ones.data(), 35, 2, 1.0F, kWide, sums);
  EXPECT_EQ(sums, (std::array{35.0F, 35.0F}));
}

TEST(ReduceEngine, SmallAddendsVanishBesideLargeOnes) {
  std::vector<float> row(8, 0.0F);
  row[0] = 4096.0F;
  row[1] = 1.0F;  // less than half a unit of the tenth fraction bit of 4096
  EXPECT_EQ(fpu_row_sum(row, 1.0F, kWide), 4096.0F);
  row[1] = 2.0F;
  EXPECT_EQ(fpu_row_sum(row, 1.0F, kWide), 4100.0F);
}

TEST(ReduceEngine, ValuesBeyondFixedPointStayWhatTheyAre) {
  EXPECT_TRUE(std::isinf(fpu_add(INFINITY, 1.0F, Dst::kBf16)));
  EXPECT_TRUE(std::isnan(fpu_mul(NAN, 1.0F, kNarrow)));
  EXPECT_EQ(fpu_add(0.0F, 0.0F, Dst::kBf16), 0.0F);
}

TEST(SoftmaxRows, ApproximateExpIsASawTooth) {
  std::vector<float> values{0.0F, -0.6931F, -100.0F};
  softmax_exp(values, {kNarrow, true, true});
  EXPECT_EQ(values[0], 0.9765625F);
  EXPECT_NEAR(values[1], 0.5F, 0.02F);
  EXPECT_LT(values[2], 1e-37F);
}

TEST(SoftmaxRows, RowsAddUpToOneWithinTheirPrecision) {
  std::vector<float> row{1.0F, 2.0F, 3.0F, 4.0F};
  softmax_row(row, 1.0F, {}, {kWide, false, true});
  float sum = 0;
  for (const float value : row) sum += value;
  EXPECT_NEAR(sum, 1.0F, 2e-3F);
  EXPECT_NEAR(row[3], 0.6439F, 2e-3F);
}

TEST(NormRows, TheOldRootFallsShort) {
  const ComputeConfig config{.approx = true};
  EXPECT_EQ(norm_rsqrt(4.0F, false, config), 0.5F);
  EXPECT_LT(norm_rsqrt(3.984375F, true, config), 0.49F);
  EXPECT_NEAR(approximate_reciprocal(0.693F), 1.443F, 1e-3F);
}

}  // namespace
}  // namespace opwright::sim
