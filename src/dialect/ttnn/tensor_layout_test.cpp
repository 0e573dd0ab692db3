#include "dialect/ttnn/tensor_layout.h"

#include <gtest/gtest.h>

#include "model/test_tensors.h"

namespace opwright {
namespace {

const std::vector<CoreRange> kFourCores{{{0, 0}, {3, 0}}};

TensorSpec with_alignment(TensorSpec spec, const Shape& alignment) {
  List list;
  for (const std::int64_t n : alignment) list.emplace_back(n);
  spec.more.emplace_back("alignment", Value(list));
  return spec;
}

TEST(TensorLayout, TilesPadTheLastTwoDimensionsOfEachMatrix) {
  const TensorSpec spec = tensor({2, 3, 5, 7});
  EXPECT_EQ(padded_shape(spec), (Shape{2, 3, 32, 32}));
  EXPECT_EQ(physical_shape(spec), (Shape2D{192, 32}));
  EXPECT_EQ(padded_shape(tensor({64})), (Shape{32, 64}));
  EXPECT_EQ(padded_shape(tensor({})), (Shape{32, 32}));
  EXPECT_EQ(padded_shape(tensor({1, 5, 0, 32})), (Shape{1, 5, 0, 32}));
}

TEST(TensorLayout, SmallTilesPadLess) {
  TensorSpec spec = tensor({1, 1, 5, 7});
  spec.tile = Shape{16, 32};
  EXPECT_EQ(padded_shape(spec), (Shape{1, 1, 16, 32}));
  EXPECT_EQ(pages_of(spec).bytes, 16 * 32 * 2);
}

TEST(TensorLayout, RowMajorPadsOnlyToTheShardWidth) {
  EXPECT_EQ(padded_shape(tensor({3, 5, 33}, DType::kUint8, Layout::kRowMajor)), (Shape{3, 5, 33}));
  const auto width_sharded = sharded_memory(MemoryLayout::kWidthSharded, shard({15, 10}, kFourCores));
  EXPECT_EQ(padded_shape(tensor({3, 5, 33}, DType::kUint8, Layout::kRowMajor, width_sharded)), (Shape{3, 5, 40}));
  EXPECT_EQ(padded_shape(tensor({}, DType::kUint8, Layout::kRowMajor)), (Shape{1}));
}

TEST(TensorLayout, AShardSpecBesideInterleavedStillWidensRows) {
  MemoryConfig memory = interleaved(BufferType::kL1);
  memory.shard = shard({16, 24}, kFourCores);
  const TensorSpec spec = tensor({1, 1, 128, 64}, DType::kBfloat16, Layout::kRowMajor, memory);
  EXPECT_EQ(padded_shape(spec), (Shape{1, 1, 128, 72}));
  EXPECT_EQ(pages_of(spec).bytes, 48);
  EXPECT_EQ(pages_of(spec).count, 384);
}

TEST(TensorLayout, ARecordedAlignmentIsTakenAsItIs) {
  EXPECT_EQ(padded_shape(with_alignment(tensor({8, 197, 768}), {224, 768})), (Shape{8, 224, 768}));
  EXPECT_EQ(padded_shape(with_alignment(tensor({1, 768}), {32, 32})), (Shape{32, 768}));
  // A sharded row-major tensor that an older library left unaligned.
  const auto memory = sharded_memory(MemoryLayout::kWidthSharded, shard({15, 10}, kFourCores));
  EXPECT_EQ(padded_shape(with_alignment(tensor({15, 33}, DType::kUint8, Layout::kRowMajor, memory), {1})),
            (Shape{15, 33}));
}

TEST(TensorLayout, SizesOfElementsAndTiles) {
  EXPECT_EQ(tile_bytes(DType::kBfloat16), 2048);
  EXPECT_EQ(tile_bytes(DType::kFloat32), 4096);
  EXPECT_EQ(tile_bytes(DType::kUint8), 1024);
  EXPECT_EQ(tile_bytes(DType::kBfloat8B), 1088);
  EXPECT_EQ(tile_bytes(DType::kBfloat4B), 576);
  EXPECT_EQ(tile_bytes(DType::kBfloat8B, {1, 16}), 16 + 16);  // one exponent, in 16 bytes
  EXPECT_EQ(element_bytes(DType::kUint16), 2);
  EXPECT_EQ(element_bytes(DType::kBfloat8B), 4);
}

TEST(TensorLayout, PagesAreTilesOrRows) {
  const Pages tiles = pages_of(tensor({1, 2, 33, 65}, DType::kBfloat8B));
  EXPECT_EQ(tiles.bytes, 1088);
  EXPECT_EQ(tiles.count, 2 * 2 * 3);
  const Pages rows = pages_of(tensor({1, 2, 33, 65}, DType::kFloat32, Layout::kRowMajor));
  EXPECT_EQ(rows.bytes, 65 * 4);
  EXPECT_EQ(rows.count, 66);
  const auto block = sharded_memory(MemoryLayout::kBlockSharded, shard({33, 16}, {{{0, 0}, {3, 1}}}));
  const Pages cut = pages_of(tensor({1, 2, 33, 64}, DType::kFloat32, Layout::kRowMajor, block));
  EXPECT_EQ(cut.bytes, 16 * 4);
  EXPECT_EQ(cut.count, 66 * 4);
  EXPECT_EQ(pages_of(tensor({4, 0}, DType::kUint8, Layout::kRowMajor)).bytes, 4);
  EXPECT_EQ(pages_of(tensor({4, 0}, DType::kUint8, Layout::kRowMajor)).count, 0);
}

TEST(TensorLayout, CoresInShardOrder) {
  const std::vector<CoreRange> grid{{{0, 0}, {1, 1}}, {{3, 3}, {3, 3}}};
  EXPECT_EQ(cores_of(grid, Orientation::kRowMajor), (std::vector<CoreCoord>{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {3, 3}}));
  EXPECT_EQ(cores_of(grid, Orientation::kColMajor), (std::vector<CoreCoord>{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {3, 3}}));
  EXPECT_EQ(core_count(grid), 5);
}

TEST(TensorLayout, TextsAreTheLibrarys) {
  EXPECT_EQ(shape_text(Shape{1, 1, 32, 64}), "Shape([1, 1, 32, 64])");
  EXPECT_EQ(shape_text(Shape2D{64, 32}), "(64, 32)");
  EXPECT_EQ(grid_text({{{0, 0}, {7, 6}}}), "{[(x=0,y=0) - (x=7,y=6)]}");
}

TEST(TensorLayout, HugeDimensionsDoNotOverflow) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const TensorSpec spec = tensor({most, most, most});
  EXPECT_EQ(padded_shape(spec).size(), 3U);
  EXPECT_GT(physical_shape(spec).height, kMostElements);
  EXPECT_GT(pages_of(spec).count, kMostElements);
}

}  // namespace
}  // namespace opwright
