#include "device/sim/memory/allocator.h"

#include <gtest/gtest.h>

#include "model/test_tensors.h"

namespace opwright::sim {
namespace {

Board n150() {
  Board board = *find_board("n150");
  board.l1_small = 24576;
  return board;
}

TensorSpec in_l1(Shape shape) {
  return tensor(std::move(shape), DType::kBfloat16, Layout::kTile, interleaved(BufferType::kL1));
}

TEST(Allocator, PagesGoRoundTheBanks) {
  Allocator allocator(n150());
  const auto placed = allocator.place(tensor({1, 1, 32, 32 * 13}));
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->banks, 12);
  EXPECT_EQ(placed->bytes, 13 * 2048);
  EXPECT_EQ(placed->bytes_per_bank, 2 * 2048);
}

TEST(Allocator, AddressesAreThoseOfTheLibrary) {
  Allocator wormhole(n150());
  EXPECT_EQ(wormhole.place(tensor({32, 32}))->address, 1048640);
  EXPECT_EQ(wormhole.place(tensor({32, 32}))->address, 1050688);
  EXPECT_EQ(wormhole.place(in_l1({32, 32}))->address, 1472512);
  Board board = *find_board("p150b");
  board.l1_small = 24576;
  Allocator blackhole(board);
  EXPECT_EQ(blackhole.place(tensor({32, 32}))->address, 1048704);
  EXPECT_EQ(blackhole.place(in_l1({32, 32}))->address, 1546240);
}

TEST(Allocator, ShardsTakeTheirCoreAndTheSameRangeElsewhere) {
  Allocator allocator(n150());
  const auto memory = sharded_memory(MemoryLayout::kHeightSharded, shard({64, 32}, {{{0, 0}, {7, 0}}}));
  const auto placed = allocator.place(tensor({1, 1, 160, 32}, DType::kBfloat16, Layout::kTile, memory));
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->banks, 3);
  EXPECT_EQ(placed->bytes_per_bank, 2 * 2048);
  EXPECT_EQ(allocator.l1_per_core(), 2 * 2048);
}

TEST(Allocator, NoRoomIsSaidInTheLibrarysWords) {
  Allocator allocator(n150());
  const auto big = allocator.place(in_l1({1, 1, 65536, 4096}));
  ASSERT_FALSE(big);
  EXPECT_EQ(big.error().kind, Refusal::Kind::kMemory);
  EXPECT_EQ(big.error().message,
            "Out of Memory: Not enough space to allocate 536870912 B L1 buffer across 64 banks, where each bank needs "
            "to store 8388608 B, but bank size is 1368736 B (allocated: 0 B, free: 1368736 B, largest free block: "
            "1368736 B).");
  ASSERT_TRUE(allocator.place(in_l1({32, 32})));  // a refusal takes nothing
  EXPECT_EQ(allocator.l1_per_core(), 2048);
}

TEST(Allocator, L1SmallIsARegionOfItsOwn) {
  Allocator allocator(n150());
  const auto memory =
      sharded_memory(MemoryLayout::kHeightSharded, shard({32, 32}, {{{0, 0}, {0, 0}}}), BufferType::kL1Small);
  const auto placed = allocator.place(tensor({32, 32}, DType::kBfloat16, Layout::kTile, memory));
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->address, 1499136 - 2048);
  const auto large =
      sharded_memory(MemoryLayout::kHeightSharded, shard({4608, 32}, {{{0, 0}, {7, 3}}}), BufferType::kL1Small);
  const auto refused = allocator.place(tensor({3, 3, 512, 1, 31}, DType::kBfloat4B, Layout::kTile, large));
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.ends_with("increase l1_small_size when opening the device."));
}

TEST(Allocator, WhatIsReleasedCanBeTakenAgain) {
  Allocator allocator(n150());
  const auto first = allocator.place(in_l1({1, 1, 8192, 4096}));
  ASSERT_TRUE(first);
  EXPECT_FALSE(allocator.place(in_l1({1, 1, 8192, 4096})));
  allocator.release(*first);
  EXPECT_EQ(allocator.l1_per_core(), 0);
  EXPECT_TRUE(allocator.place(in_l1({1, 1, 8192, 4096})));
}

}  // namespace
}  // namespace opwright::sim
