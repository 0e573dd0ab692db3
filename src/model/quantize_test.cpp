#include "model/quantize.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "model/value.h"

namespace opwright {
namespace {

TEST(Quantize, Bfloat16RoundsTiesToEven) {
  EXPECT_EQ(bfloat16_bits(1.0F), 0x3F80);
  EXPECT_EQ(bfloat16_bits(1.0F + 0x1p-8F), 0x3F80);
  EXPECT_EQ(bfloat16_bits(1.0F + 3 * 0x1p-8F), 0x3F82);
  EXPECT_EQ(bfloat16_bits(-std::numeric_limits<float>::quiet_NaN()), 0x7FC0);
  EXPECT_EQ(bfloat16_bits(3.4e38F), 0x7F80);
  EXPECT_EQ(round_bfloat16(1e-40F), from_bfloat16_bits(1));  // denormals stay
}

TEST(Quantize, BlockFloatsShareAnExponentAndSaturate) {
  const std::vector<float> values{1.9999F, 1.0234375F, 1.0390625F, -0.75F, 1e-3F, 1e-40F};
  const BlockFloatGroup group = encode_block_float(values, DType::kBfloat8B);
  EXPECT_EQ(group.exponent, 127);
  EXPECT_EQ(group.data[0], 0x7F);  // not 0x80: the exponent is not found anew
  EXPECT_EQ(group.data[1], 0x42);  // 65.5 to even
  EXPECT_EQ(group.data[2], 0x42);  // 66.5 to even
  EXPECT_EQ(group.data[3], 0xB0);
  EXPECT_EQ(group.data[4], 0x00);
  EXPECT_EQ(group.data[5], 0x00);
  std::vector<float> back(values.size());
  decode_block_float(group, DType::kBfloat8B, back);
  EXPECT_EQ(back[0], 1.984375F);
  EXPECT_EQ(back[3], -0.75F);
}

TEST(Quantize, BitsThatAreShiftedOutDoNotCount) {
  // Just above half of the last place: the bit that says so is lost when the exponents are made equal.
  const std::vector<float> values{0x1p12F, 0x1p5F + 0x1p-17F};
  EXPECT_EQ(encode_block_float(values, DType::kBfloat8B).data[1], 0x00);
}

TEST(Quantize, TheFastWayGivesTheBitsOfTheLongOne) {
  std::uint32_t state = 12345;
  for (const DType dtype : {DType::kBfloat8B, DType::kBfloat4B}) {
    for (int round = 0; round < 20000; ++round) {
      std::vector<float> values(kBlockFloatGroup);
      const std::uint32_t base = state >> 8 & 0xFF;
      const std::uint32_t spread = 1 + (round % 32);
      for (float& value : values) {
        state = state * 1664525 + 1013904223;
        std::uint32_t bits = state;
        if (round % 3 != 0) bits = (state & 0x80700000) | (base + state % spread) % 256 << 23 | (state & 0x1FFFF);
        value = std::bit_cast<float>(bits);
      }
      std::vector<float> wanted(values.size());
      decode_block_float(encode_block_float(values, dtype), dtype, wanted);
      quantize(values, kBlockFloatGroup, dtype);
      for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(std::bit_cast<std::uint32_t>(values[i]), std::bit_cast<std::uint32_t>(wanted[i]))
            << round << " " << i;
    }
  }
}

TEST(Quantize, InfinityEmptiesItsGroup) {
  std::vector<float> values(20, 1.0F);
  values[3] = -INFINITY;
  quantize(values, 20, DType::kBfloat8B);
  EXPECT_EQ(values[0], 0.0F);
  EXPECT_EQ(values[3], -INFINITY);
  EXPECT_EQ(values[16], 1.0F);  // the next group
}

TEST(Quantize, GroupsDoNotCrossRows) {
  std::vector<float> values{1000.0F, 0.001F, 0.001F, 0.001F};
  quantize(values, 2, DType::kBfloat4B);
  EXPECT_EQ(values[1], 0.0F);
  EXPECT_NEAR(values[2], 0.001F, 0.0003F);
}

TEST(Quantize, TensorsHoldWhatTheirDtypeHolds) {
  HostTensor tensor;
  tensor.spec.shape = {3};
  tensor.spec.dtype.value = DType::kUint8;
  tensor.ints = {1, 257, -1};
  quantize(tensor);
  EXPECT_EQ(tensor.ints, (std::vector<std::int64_t>{1, 1, 255}));
  tensor.spec.dtype.value = DType::kInt32;
  tensor.ints = {1LL << 31, 5, -(1LL << 31)};
  quantize(tensor);
  EXPECT_EQ(tensor.ints, (std::vector<std::int64_t>{-(1LL << 31), 5, -(1LL << 31)}));
}

}  // namespace
}  // namespace opwright
