#include "capture/sketch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace opwright::capture {
namespace {

TEST(Sketch, SaysWhatAContentLooksLike) {
  std::vector<float> values(1001);
  std::iota(values.begin(), values.end(), 0.0F);
  values[500] = std::numeric_limits<float>::quiet_NaN();
  values[501] = -std::numeric_limits<float>::infinity();
  Sketch drawn;
  ASSERT_TRUE(sketch("float32", values.data(), values.size(), drawn));
  EXPECT_EQ(drawn.count, 1001U);
  EXPECT_EQ(drawn.zeros, 1U);
  EXPECT_EQ(drawn.nans, 1U);
  EXPECT_EQ(drawn.infs, 1U);
  EXPECT_EQ(drawn.min, 0);
  EXPECT_EQ(drawn.max, 1000);
  EXPECT_TRUE(drawn.integers);
  EXPECT_EQ(drawn.sorted, 0);
  EXPECT_NEAR(drawn.quantiles[4], 500, 3);
  EXPECT_NEAR(drawn.quantiles[8], 990, 3);
}

TEST(Sketch, KnowsOrderAndWholeNumbers) {
  const std::vector<std::int32_t> rising = {-3, -3, 0, 7};
  Sketch drawn;
  ASSERT_TRUE(sketch("int32", rising.data(), rising.size(), drawn));
  EXPECT_EQ(drawn.sorted, 1);
  EXPECT_EQ(drawn.min, -3);
  const std::vector<double> falling = {2.5, 1.0, -1.0};
  ASSERT_TRUE(sketch("float64", falling.data(), falling.size(), drawn));
  EXPECT_EQ(drawn.sorted, -1);
  EXPECT_FALSE(drawn.integers);
  const std::vector<float> constant(10, 4.0F);
  ASSERT_TRUE(sketch("float32", constant.data(), constant.size(), drawn));
  EXPECT_EQ(drawn.sorted, 0);
}

TEST(Sketch, ReadsSmallFormats) {
  Sketch drawn;
  const std::vector<std::uint16_t> bfloat16 = {0x3f80, 0xbf80, 0x7f80, 0x4049};  // 1, -1, inf, 3.140625
  ASSERT_TRUE(sketch("bfloat16", bfloat16.data(), bfloat16.size(), drawn));
  EXPECT_EQ(drawn.min, -1);
  EXPECT_EQ(drawn.max, 3.140625);
  EXPECT_EQ(drawn.infs, 1U);
  const std::vector<std::uint16_t> float16 = {0x3c00, 0xc000, 0x0001, 0x7e00};  // 1, -2, 2^-24, nan
  ASSERT_TRUE(sketch("float16", float16.data(), float16.size(), drawn));
  EXPECT_EQ(drawn.min, -2);
  EXPECT_EQ(drawn.max, 1);
  EXPECT_EQ(drawn.nans, 1U);
  const std::vector<std::uint8_t> bytes = {0, 255};
  ASSERT_TRUE(sketch("uint8", bytes.data(), bytes.size(), drawn));
  EXPECT_EQ(drawn.max, 255);
}

TEST(Sketch, OfNothingIsAllZero) {
  Sketch drawn;
  ASSERT_TRUE(sketch("float32", nullptr, 0, drawn));
  EXPECT_EQ(drawn.count, 0U);
  EXPECT_FALSE(sketch("complex", nullptr, 0, drawn));
}

TEST(Sketch, TakesAtMost256Bytes) {
  Sketch largest;
  largest.count = largest.zeros = largest.nans = largest.infs = std::numeric_limits<std::int64_t>::max();
  Encoder encoded;
  encode(largest, encoded);
  EXPECT_LE(encoded.size(), 256U);
}

}  // namespace
}  // namespace opwright::capture
