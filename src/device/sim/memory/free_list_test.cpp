#include "device/sim/memory/free_list.h"

#include <gtest/gtest.h>

namespace opwright::sim {
namespace {

TEST(FreeList, GrowsFromItsEnd) {
  FreeList up(1024, 32, Growth::kUp);
  EXPECT_EQ(up.take(100), 0);
  EXPECT_EQ(up.take(32), 128);
  EXPECT_EQ(up.allocated(), 160);
  FreeList down(1024, 32, Growth::kDown);
  EXPECT_EQ(down.take(100), 1024 - 128);
  EXPECT_EQ(down.take(32), 1024 - 160);
}

TEST(FreeList, ABlockStartsAlignedWhereTheBankDoesNotEndSo) {
  FreeList down(1000, 32, Growth::kDown);
  EXPECT_EQ(down.take(32), 960);
  EXPECT_EQ(down.largest_hole(), 960);
  EXPECT_EQ(down.free(), 968);
}

TEST(FreeList, TheFirstHoleThatFitsIsTaken) {
  FreeList up(1024, 32, Growth::kUp);
  const auto a = up.take(64);
  up.take(64);
  const auto c = up.take(256);
  up.take(64);
  up.give_back(*a, 64);
  up.give_back(*c, 256);
  EXPECT_EQ(up.take(96), *c);
  EXPECT_EQ(up.take(64), *a);
}

TEST(FreeList, NeighbouringHolesBecomeOne) {
  FreeList up(256, 32, Growth::kUp);
  const auto a = up.take(64);
  const auto b = up.take(64);
  const auto c = up.take(128);
  EXPECT_EQ(up.take(32), std::nullopt);
  up.give_back(*a, 64);
  up.give_back(*c, 128);
  EXPECT_EQ(up.largest_hole(), 128);
  up.give_back(*b, 64);
  EXPECT_EQ(up.largest_hole(), 256);
  EXPECT_EQ(up.take(256), 0);
}

TEST(FreeList, NothingTakesNoRoomAndAnEmptyBankGivesNone) {
  FreeList none(0, 32, Growth::kDown);
  EXPECT_EQ(none.take(0), 0);
  EXPECT_EQ(none.take(1), std::nullopt);
  EXPECT_EQ(none.largest_hole(), 0);
}

}  // namespace
}  // namespace opwright::sim
