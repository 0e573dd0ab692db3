#include "model/broadcast.h"

#include <gtest/gtest.h>

namespace opwright {
namespace {

TEST(Broadcast, Shapes) {
  EXPECT_EQ(broadcast_shape({2, 1, 4}, {3, 1}), (Shape{2, 3, 4}));
  EXPECT_EQ(broadcast_shape({}, {5}), (Shape{5}));
  EXPECT_EQ(broadcast_shape({1, 8}, {0, 8}), (Shape{0, 8}));
  EXPECT_FALSE(broadcast_shape({2, 3}, {2, 4}));
}

TEST(Broadcast, RowsOfAStretchedTensor) {
  const BroadcastRows rows({2, 1, 4}, {2, 3, 4});
  EXPECT_FALSE(rows.plain());
  EXPECT_TRUE(rows.steps());
  EXPECT_EQ(rows.offset(0), 0);
  EXPECT_EQ(rows.offset(2), 0);
  EXPECT_EQ(rows.offset(3), 4);
  EXPECT_EQ(rows.offset(5), 4);
}

TEST(Broadcast, ColumnsOfOne) {
  const BroadcastRows rows({3, 1}, {2, 3, 8});
  EXPECT_FALSE(rows.steps());
  EXPECT_EQ(rows.offset(4), 1);
}

TEST(Broadcast, NothingStretches) {
  const BroadcastRows rows({2, 3, 4}, {2, 3, 4});
  EXPECT_TRUE(rows.plain());
  EXPECT_EQ(rows.offset(5), 20);
}

}  // namespace
}  // namespace opwright
