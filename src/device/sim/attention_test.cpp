#include "device/sim/attention.h"

#include <gtest/gtest.h>

#include <cmath>

namespace opwright::sim {
namespace {

// Two keys that score alike share the weight; the mean of their values is exact in bfloat16.
TEST(FlashRows, EqualScoresGiveTheMeanOfTheValues) {
  const Flash flash{.scale = 1, .dim = 32, .value_dim = 32};
  std::vector<float> query(32, 0.0F);
  std::vector<float> keys(64, 1.0F);
  std::vector<float> values(64, 1.0F);
  std::fill(values.begin() + 32, values.end(), 3.0F);
  FlashRows rows(flash, query.data(), 1);
  rows.add(keys.data(), values.data(), 2, nullptr);
  std::vector<float> out(32);
  rows.finish(out.data());
  EXPECT_NEAR(out[0], 2.0F, 0.02F);
}

TEST(FlashRows, HiddenKeysDoNotCount) {
  const Flash flash{.scale = 1, .dim = 32, .value_dim = 32};
  std::vector<float> query(32, 0.0F);
  std::vector<float> keys(64, 1.0F);
  std::vector<float> values(64, 1.0F);
  std::fill(values.begin() + 32, values.end(), 3.0F);
  const float bias[] = {0.0F, -INFINITY};
  FlashRows rows(flash, query.data(), 1);
  rows.add(keys.data(), values.data(), 2, bias);
  std::vector<float> out(32);
  rows.finish(out.data());
  EXPECT_NEAR(out[0], 1.0F, 0.02F);
}

// What a row has not seen at all is zero, not NaN.
TEST(FlashRows, ARowThatSeesNothingIsZero) {
  const Flash flash{.scale = 1, .dim = 32, .value_dim = 32};
  std::vector<float> ones(64, 1.0F);
  const float bias[] = {-INFINITY, -INFINITY};
  FlashRows rows(flash, ones.data(), 1);
  rows.add(ones.data(), ones.data(), 2, bias);
  std::vector<float> out(32, 7.0F);
  rows.finish(out.data());
  EXPECT_EQ(out[0], 0.0F);
}

TEST(FlashRows, ALaterChunkWithALargerScoreTakesOver) {
  const Flash flash{.scale = 1, .dim = 32, .value_dim = 32};
  std::vector<float> query(32, 1.0F);
  std::vector<float> low(32, 0.0F);
  std::vector<float> high(32, 1.0F);
  std::vector<float> one(32, 1.0F);
  std::vector<float> five(32, 5.0F);
  FlashRows rows(flash, query.data(), 1);
  rows.add(low.data(), one.data(), 1, nullptr);
  rows.add(high.data(), five.data(), 1, nullptr);
  std::vector<float> out(32);
  rows.finish(out.data());
  EXPECT_NEAR(out[0], 5.0F, 0.1F);
}

// Blocks in any order; a page that is not there gives zeros.
TEST(KeyBlocks, FollowThePageTable) {
  HostTensor keys;
  keys.spec.shape = {2, 1, 2, 1};
  keys.floats = {10, 11, 20, 21};
  HostTensor pages;
  pages.spec.shape = {1, 3};
  pages.spec.dtype.value = DType::kInt32;
  pages.ints = {1, 0, -1};
  const KeyBlocks blocks{&keys, &keys, &pages};
  EXPECT_EQ(blocks.length(), 6);
  std::vector<float> buffer;
  const float* rows = blocks.rows(keys, 0, 0, 1, 5, buffer);
  EXPECT_EQ(std::vector<float>(rows, rows + 5), (std::vector<float>{21, 10, 11, 0, 0}));
}

}  // namespace
}  // namespace opwright::sim
