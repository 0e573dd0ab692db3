#include "exec/noise_canary.h"

#include <gtest/gtest.h>

namespace opwright {
namespace {

TEST(NoiseCanary, AQuietMachineIsBelieved) {
  const Busyness busy = busyness_of({.wall = {1, 1.01, 1, 1, 1.02},
                                     .processor = {1, 1.0, 1, 0.99, 1.01},
                                     .all_ticks = 200,
                                     .idle_ticks = 150,
                                     .own_ticks = 45});
  EXPECT_EQ(too_busy(busy), "");
  EXPECT_LT(busy.worst(), 1);
}

TEST(NoiseCanary, EachKindOfNoiseIsNamedWithItsSize) {
  const Busyness others =
      busyness_of({.wall = {1, 1}, .processor = {1, 1}, .all_ticks = 200, .idle_ticks = 40, .own_ticks = 50});
  EXPECT_EQ(too_busy(others), "other processes use 55 % (at most 20 %)");
  const Busyness taken = busyness_of({.wall = {2, 2}, .processor = {1, 1}});
  EXPECT_EQ(too_busy(taken), "a piece of work waited for a core 50 % (at most 5 %)");
  const Busyness spread = busyness_of({.wall = {1, 1, 1, 1, 3}, .processor = {1, 1, 1, 1, 3}});
  EXPECT_EQ(too_busy(spread), "the same work took longer by 200 % (at most 15 %)");
  EXPECT_GT(spread.worst(), 1);
}

TEST(NoiseCanary, WhatNobodyTellsIsNoNoise) {
  EXPECT_EQ(too_busy(busyness_of({})), "");
  EXPECT_EQ(too_busy(busyness_of({.wall = {1}, .processor = {1}})), "");
}

TEST(NoiseCanary, ListensToThisMachine) {
  const Busyness busy = listen_to_machine();
  EXPECT_GE(busy.taken, 0);
  EXPECT_LE(busy.taken, 1);
  EXPECT_LE(busy.others, 1);
}

}  // namespace
}  // namespace opwright
