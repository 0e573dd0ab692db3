#include "device/sim/pack.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace opwright::sim {
namespace {

float packed(float value, DType out, Dst from) {
  pack({&value, 1}, 1, out, from);
  return value;
}

TEST(Pack, Bfloat16OfA32BitDestinationRoundsTiesAway) {
  EXPECT_EQ(packed(1.0F + 0x1p-8F, DType::kBfloat16, Dst::kFp32), 1.0078125F);
  EXPECT_EQ(packed(-1.0F - 0x1p-8F, DType::kBfloat16, Dst::kFp32), -1.0078125F);
  EXPECT_EQ(packed(1.0F + 0x1p-9F, DType::kBfloat16, Dst::kFp32), 1.0F);
}

TEST(Pack, MemoryHasNoNanNoDenormalsNoNegativeZero) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(packed(nan, DType::kBfloat16, Dst::kBf16), INFINITY);
  EXPECT_EQ(packed(-nan, DType::kBfloat16, Dst::kFp32), -INFINITY);
  EXPECT_EQ(packed(1e-40F, DType::kBfloat16, Dst::kFp32), 0.0F);
  EXPECT_FALSE(std::signbit(packed(-0.0F, DType::kBfloat16, Dst::kBf16)));
}

TEST(Pack, Float32KeepsWhatA32BitDestinationHolds) {
  EXPECT_EQ(packed(1.2345678F, DType::kFloat32, Dst::kFp32), 1.2345678F);
}

TEST(Pack, BlockFloatsOfARowShareAnExponent) {
  std::vector<float> row(32, 0.0F);
  row[0] = 1.984375F;
  row[1] = 0.0078125F;   // half of the last bit: up
  row[2] = 0.00390625F;  // a quarter
  row[3] = -1.0234375F;  // 7 bits and a half: down to 7 first
  row[16] = 0.0078125F;  // alone in its group: kept
  pack(row, 32, DType::kBfloat8B, Dst::kBf16);
  EXPECT_EQ(row[0], 1.984375F);
  EXPECT_EQ(row[1], 0.015625F);
  EXPECT_EQ(row[2], 0.0F);
  EXPECT_EQ(row[3], -1.03125F);
  EXPECT_EQ(row[16], 0.0078125F);
}

TEST(Pack, Bfloat4CutsOffWhatBfloat8Rounded) {
  std::vector<float> row{1.0F, 1.2F, -1.9F, 0.24F};
  pack(row, 4, DType::kBfloat4B, Dst::kFp32);
  EXPECT_EQ(row, (std::vector<float>{1.0F, 1.0F, -1.75F, 0.0F}));
}

TEST(Pack, InfinityLeavesNothingBesideItself) {
  std::vector<float> row{1.0F, -INFINITY, 3.0F};
  pack(row, 3, DType::kBfloat8B, Dst::kBf16);
  EXPECT_EQ(row, (std::vector<float>{0.0F, -INFINITY, 0.0F}));
}

TEST(Pack, ExtremeExponentsOfBlockFloats) {
  std::vector<float> large{3e38F, 1e38F};
  pack(large, 2, DType::kBfloat8B, Dst::kBf16);
  EXPECT_NEAR(large[0] / 3e38F, 1.0F, 0.01F);
  EXPECT_NEAR(large[1] / 1e38F, 1.0F, 0.02F);
  std::vector<float> small{1.2e-38F, 0x1p-126F};
  pack(small, 2, DType::kBfloat8B, Dst::kBf16);
  EXPECT_NEAR(small[0] / 1.2e-38F, 1.0F, 0.02F);
}

TEST(Pack, RoundingIntoTheDestination) {
  EXPECT_EQ(round_to_dst(1.0F + 0x1p-8F, Dst::kBf16), 1.0F);
  EXPECT_EQ(truncate_to_dst(1.9999F, Dst::kBf16), 1.9921875F);
  EXPECT_EQ(round_to_dst(1.9999F, Dst::kFp32), 1.9999F);
}

}  // namespace
}  // namespace opwright::sim
