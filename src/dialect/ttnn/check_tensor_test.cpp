#include <gtest/gtest.h>

#include "dialect/ttnn/tensor_layout.h"
#include "model/test_tensors.h"

namespace opwright {
namespace {

const Board& n150() {
  static const Board board = *find_board("n150");
  return board;
}

// "" when the tensor can exist.
std::string refusal(const TensorSpec& spec, const Board& board = n150()) {
  const auto checked = check_tensor(spec, board);
  return checked ? "" : checked.error().message;
}

MemoryConfig height(Shape part, std::vector<CoreRange> grid, BufferType buffer = BufferType::kL1) {
  return sharded_memory(MemoryLayout::kHeightSharded, shard(std::move(part), std::move(grid)), buffer);
}
MemoryConfig width(Shape part, std::vector<CoreRange> grid, BufferType buffer = BufferType::kL1) {
  return sharded_memory(MemoryLayout::kWidthSharded, shard(std::move(part), std::move(grid)), buffer);
}
MemoryConfig block(Shape part, std::vector<CoreRange> grid, Orientation orientation = Orientation::kRowMajor) {
  return sharded_memory(MemoryLayout::kBlockSharded, shard(std::move(part), std::move(grid), orientation));
}
std::string tiled(MemoryConfig memory, Shape shape = {1, 1, 128, 64}) {
  return refusal(tensor(std::move(shape), DType::kBfloat16, Layout::kTile, std::move(memory)));
}
std::string row_major(MemoryConfig memory, Shape shape = {1, 1, 128, 64}) {
  return refusal(tensor(std::move(shape), DType::kBfloat16, Layout::kRowMajor, std::move(memory)));
}

const std::vector<CoreRange> kColumn{{{0, 0}, {0, 3}}};

TEST(CheckTensor, BlockFloatsNeedTiles) {
  EXPECT_EQ(refusal(tensor({32, 32}, DType::kBfloat8B)), "");
  EXPECT_EQ(refusal(tensor({32, 32}, DType::kBfloat4B, Layout::kRowMajor)),
            "Only TILE layout is supported for BFLOAT8_B dtype!");
}

TEST(CheckTensor, HostTensorsKeepNoRuleOfTheDevice) {
  TensorSpec spec = tensor({1, 1, 128, 64}, DType::kBfloat16, Layout::kTile, height({1, 1}, {{{90, 90}, {91, 91}}}));
  EXPECT_NE(refusal(spec), "");
  spec.storage.value = StorageType::kHost;
  EXPECT_EQ(refusal(spec), "");
  spec.layout.value = Layout::kRowMajor;
  spec.dtype.value = DType::kBfloat8B;
  EXPECT_EQ(refusal(spec), "Layout must be Layout::TILE for bfloat8_b or bfloat4_b!");
}

TEST(CheckTensor, ShardsAreWholeTiles) {
  EXPECT_EQ(tiled(height({32, 64}, kColumn)), "");
  EXPECT_EQ(tiled(height({16, 64}, kColumn)), "Physical shard shape (16, 64) must be tile {32, 32} sized!");
  EXPECT_EQ(tiled(nd_memory(shard({1, 64}, kColumn), "ROUND_ROBIN_1D")),
            "Physical shard shape Shape([1, 64]) must be tile {32, 32} sized!");
}

TEST(CheckTensor, HeightShards) {
  EXPECT_EQ(tiled(height({32, 32}, kColumn)), "Shard width 32 must match physical width 64 for height sharded");
  EXPECT_EQ(tiled(height({32, 64}, {{{0, 0}, {2, 0}}})),
            "Number of shards along height 4 must not exceed number of cores 3");
  EXPECT_EQ(tiled(height({0, 64}, kColumn)), "Shard shape must be greater than 0 in each sharded dim, got [0, 64]");
}

TEST(CheckTensor, WidthShards) {
  EXPECT_EQ(tiled(width({128, 32}, {{{0, 0}, {1, 0}}})), "");
  EXPECT_EQ(tiled(width({96, 32}, {{{0, 0}, {1, 0}}})),
            "Shard height 96 must match physical height 128 for width sharded");
  EXPECT_EQ(tiled(width({128, 32}, {{{0, 0}, {0, 0}}})),
            "Number of shards along width 2 must not exceed number of cores 1");
}

TEST(CheckTensor, BlockShardsFollowTheOrientation) {
  EXPECT_EQ(tiled(block({32, 32}, {{{0, 0}, {1, 3}}})), "");
  EXPECT_EQ(tiled(block({32, 32}, {{{0, 0}, {3, 1}}}, Orientation::kColMajor)), "");
  EXPECT_EQ(tiled(block({32, 32}, {{{0, 0}, {1, 0}}})),
            "Number of shards along height 4 must not exceed number of rows 1 for row major orientation!");
  EXPECT_EQ(tiled(block({32, 32}, {{{0, 0}, {0, 3}}})),
            "Number of shards along width 2 must not exceed number of columns 1 for row major orientation!");
  EXPECT_EQ(tiled(block({32, 32}, {{{0, 0}, {1, 3}}}, Orientation::kColMajor)),
            "Number of shards along height 4 must not exceed number of columns 2 for column major orientation!");
  EXPECT_EQ(tiled(block({32, 32}, {{{0, 0}, {3, 0}}}, Orientation::kColMajor)),
            "Number of shards along width 2 must not exceed number of rows 1 for column major orientation!");
  EXPECT_EQ(tiled(block({32, 32}, {{{0, 0}, {1, 1}}, {{0, 2}, {1, 3}}})),
            "Shard grid must be one full rectangular grid for block sharded!");
}

TEST(CheckTensor, RowMajorShards) {
  EXPECT_EQ(row_major(width({128, 17}, {{{0, 0}, {3, 0}}})), "");  // the last shard is wider than what is left
  EXPECT_EQ(row_major(width({128, 0}, {{{0, 0}, {3, 0}}})),
            "Row Major width alignment must be greater than 0; a sharded tensor takes it from the shard width (0)");
  EXPECT_EQ(row_major(height({32, 32}, kColumn)), "Shard width 32 must match physical width 64 for height sharded");
  EXPECT_EQ(row_major(height({32, 64}, kColumn), {64}), "Shard shape must be 1D for 1D tensor!");
  EXPECT_EQ(row_major(height({1, 64}, kColumn), {64}), "");
}

TEST(CheckTensor, AShardSpecIsNeededToShard) {
  MemoryConfig memory = interleaved(BufferType::kL1);
  memory.layout.value = MemoryLayout::kBlockSharded;
  EXPECT_EQ(tiled(memory), "MemoryConfig must have Shard Spec specified for sharded memory layout");
}

TEST(CheckTensor, GridsMustBeSound) {
  EXPECT_EQ(tiled(height({32, 64}, {{{0, 0}, {1, 1}}, {{1, 1}, {2, 2}}})),
            "Cannot create CoreRangeSet with specified core ranges because core ranges [0-0 - 1-1] and [1-1 - 2-2] "
            "overlap!");
  EXPECT_EQ(tiled(height({32, 64}, {{{2, 0}, {1, 3}}})), "Invalid core range for start_coord: 2-0, end_coord: 1-3");
  EXPECT_FALSE(check_memory(height({32, 64}, {{{2, 0}, {1, 3}}})));
  EXPECT_TRUE(check_memory(height({32, 64}, {{{90, 0}, {90, 3}}})));  // which device it is for is not known yet
}

TEST(CheckTensor, EveryShardCoreNeedsABank) {
  EXPECT_TRUE(tiled(height({32, 64}, {{{0, 0}, {8, 0}}}))
                  .starts_with("Invalid shard grid: shard core (8, 0) has no L1 bank on this device, which has 64 of "
                               "them."));
  EXPECT_TRUE(tiled(height({32, 64}, {{{0, 0}, {12, 0}}}, BufferType::kDram))
                  .starts_with("Invalid shard grid: shard core (12, 0) has no DRAM bank on this device, which has 12"));
  EXPECT_TRUE(tiled(height({32, 64}, kColumn, BufferType::kDram))
                  .starts_with("Invalid DRAM shard grid: shard core (0, 1) is not on row 0."));
  EXPECT_EQ(refusal(tensor({1, 1, 128, 64}, DType::kBfloat16, Layout::kTile, height({32, 64}, {{{0, 0}, {8, 0}}})),
                    *find_board("p100a")),
            "");
}

TEST(CheckTensor, ABlockGridMayReachBeyondTheDeviceWhereItHoldsNothing) {
  EXPECT_EQ(tiled(block({32, 32}, {{{0, 0}, {9, 9}}})), "");
}

TEST(CheckTensor, NdShards) {
  EXPECT_EQ(tiled(nd_memory(shard({1, 32, 32}, kColumn), "ROUND_ROBIN_1D")), "");
  EXPECT_EQ(tiled(nd_memory(shard({1, 32, 32}, kColumn), "GRID_2D")),
            "2D grid distribution is only supported for 2D sharding!");
  EXPECT_EQ(tiled(nd_memory(shard({32, 32}, {{{0, 0}, {0, 0}}}), "GRID_2D")),
            "Number of shards along width must not exceed core grid width!");
  EXPECT_EQ(tiled(nd_memory(shard({32, 32}, {{{0, 0}, {1, 0}}}), "GRID_2D")),
            "Number of shards along height must not exceed core grid height!");
  EXPECT_EQ(tiled(nd_memory(shard({1, 1, 1, 32, 32}, kColumn), "ROUND_ROBIN_1D")),
            "Tensor shape rank (4) can't be less than shard shape rank (5)!");
  EXPECT_EQ(tiled(nd_memory(shard({0, 32, 32}, kColumn), "ROUND_ROBIN_1D")), "Shard shape must have non zero volume!");
}

TEST(CheckTensor, L1SmallHoldsOnlyShards) {
  EXPECT_EQ(tiled(interleaved(BufferType::kL1Small)),
            "L1_SMALL only supports sharded allocations, see validate_num_banks");
  EXPECT_EQ(tiled(interleaved(BufferType::kL1Small), {1, 0}), "");  // an empty tensor is not allocated
}

TEST(CheckTensor, TilesAreThoseOfTheHardware) {
  TensorSpec spec = tensor({32, 32});
  spec.tile = Shape{8, 32};
  EXPECT_EQ(refusal(spec), "");
  spec.tile = Shape{64, 32};
  EXPECT_EQ(refusal(spec), "Tile size is not valid for our hardware");
  spec.tile = Shape{0, 0};
  EXPECT_EQ(refusal(spec), "Tile size is not valid for our hardware");
}

TEST(CheckTensor, SizesBeyondEverythingAreRefused) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_NE(refusal(tensor({most, most})), "");
  EXPECT_NE(refusal(tensor({-1, 32})), "");
  EXPECT_NE(refusal(tensor({0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0})), "");
  EXPECT_NE(refusal(tensor(Shape(9, 1))), "");
  EXPECT_EQ(check_tensor(tensor({1 << 30, 1 << 30}), n150()).error().kind, Refusal::Kind::kMemory);
  EXPECT_NE(tiled(height({most, 64}, kColumn)), "");
  EXPECT_NE(tiled(height({32, 64}, {{{0, 0}, {most, most}}})), "");
  EXPECT_NE(tiled(nd_memory(shard({}, kColumn), "ROUND_ROBIN_1D")), "");
}

TEST(CheckTensor, WhatTheSetOfNamesLacksIsUnsupported) {
  TensorSpec spec = tensor({32, 32});
  spec.dtype = parse_dtype("ttnn.fp8_e4m3");
  const auto checked = check_tensor(spec, n150());
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind, Refusal::Kind::kUnsupported);
  EXPECT_EQ(checked.error().message, "dtype FP8_E4M3");
}

}  // namespace
}  // namespace opwright
