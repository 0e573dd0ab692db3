#include "device/sim/broadcast.h"

#include <gtest/gtest.h>

namespace opwright::sim {
namespace {

TEST(KernelBroadcast, RowsOfAStretchedTensor) {
  const BroadcastRows rows({2, 1, 4}, {2, 3, 4});
  EXPECT_FALSE(rows.plain());
  EXPECT_TRUE(rows.steps());
  EXPECT_EQ(rows.offset(0), 0);
  EXPECT_EQ(rows.offset(2), 0);
  EXPECT_EQ(rows.offset(3), 4);
  EXPECT_EQ(rows.offset(5), 4);
}

TEST(KernelBroadcast, ColumnsOfOne) {
  const BroadcastRows rows({3, 1}, {2, 3, 8});
  EXPECT_FALSE(rows.steps());
  EXPECT_EQ(rows.offset(4), 1);
}

TEST(KernelBroadcast, NothingStretches) {
  const BroadcastRows rows({2, 3, 4}, {2, 3, 4});
  EXPECT_TRUE(rows.plain());
  EXPECT_EQ(rows.offset(5), 20);
}

TEST(KernelBroadcast, SeveralDimensionsStretch) {
  const BroadcastRows rows({2, 1, 3, 1}, {2, 4, 3, 5});
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t c = 0; c < 4; ++c)
      for (std::int64_t h = 0; h < 3; ++h) EXPECT_EQ(rows.offset((b * 4 + c) * 3 + h), b * 3 + h);
}

}  // namespace
}  // namespace opwright::sim
