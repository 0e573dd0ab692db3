#include "ops/shared/broadcast.h"

#include <gtest/gtest.h>

namespace opwright {
namespace {

TEST(Broadcast, Shapes) {
  EXPECT_EQ(broadcast_shape({2, 1, 4}, {3, 1}), (Shape{2, 3, 4}));
  EXPECT_EQ(broadcast_shape({}, {5}), (Shape{5}));
  EXPECT_EQ(broadcast_shape({1, 8}, {0, 8}), (Shape{0, 8}));
  EXPECT_FALSE(broadcast_shape({2, 3}, {2, 4}));
}

// By the definition: the coordinate of a stretched dimension is 0, any other is the result's.
TEST(Broadcast, EveryRowOfEveryWayToStretch) {
  const Shape to{2, 3, 4, 5};
  for (unsigned ones = 0; ones < 16; ++ones) {
    Shape from = to;
    for (std::size_t i = 0; i < 4; ++i)
      if ((ones >> i & 1) != 0) from[i] = 1;
    const BroadcastRows rows(from, to);
    EXPECT_EQ(rows.steps(), from[3] == 5);
    for (std::int64_t b = 0; b < 2; ++b)
      for (std::int64_t c = 0; c < 3; ++c)
        for (std::int64_t h = 0; h < 4; ++h) {
          const std::int64_t b_from = from[0] == 1 ? 0 : b;
          const std::int64_t c_from = from[1] == 1 ? 0 : c;
          const std::int64_t h_from = from[2] == 1 ? 0 : h;
          EXPECT_EQ(rows.offset((b * 3 + c) * 4 + h), ((b_from * from[1] + c_from) * from[2] + h_from) * from[3]);
        }
  }
}

TEST(Broadcast, FewerAndMoreDimensionsThanTheResult) {
  const BroadcastRows fewer({3, 1}, {2, 3, 8});
  EXPECT_FALSE(fewer.steps());
  EXPECT_EQ(fewer.offset(4), 1);
  const BroadcastRows more({1, 1, 3, 8}, {3, 8});
  EXPECT_EQ(more.offset(2), 16);
  const BroadcastRows scalar({}, {2, 3});
  EXPECT_FALSE(scalar.steps());
  EXPECT_EQ(scalar.offset(1), 0);
}

}  // namespace
}  // namespace opwright
