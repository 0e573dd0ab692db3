#include "replay/live_tensors.h"

#include <gtest/gtest.h>

namespace opwright::replay {
namespace {

TensorSpec spec_of(Shape shape, BufferType buffer = BufferType::kDram, DType dtype = DType::kBfloat16) {
  TensorSpec spec;
  spec.shape = std::move(shape);
  spec.has_shape = true;
  spec.dtype.value = dtype;
  spec.layout.value = Layout::kTile;
  spec.storage.value = StorageType::kDevice;
  spec.memory.emplace();
  spec.memory->layout.value = MemoryLayout::kInterleaved;
  spec.memory->buffer.value = buffer;
  return spec;
}

Content filled(std::size_t count, float value) {
  Content content;
  content.dtype = DType::kBfloat16;
  content.count = static_cast<std::int64_t>(count);
  Values values;
  values.floats.assign(count, value);
  content.device = std::make_shared<const Packed>(values, DType::kBfloat16, 32);
  return content;
}

constexpr std::int64_t kTile = 2048;  // bytes of a tile of bfloat16

TEST(LiveTensors, ATensorThatNobodyMadeHasNoContent) {
  LiveTensors table;
  EXPECT_FALSE(table.knows(1));
  table.declare(1, spec_of({32, 32}));
  EXPECT_TRUE(table.knows(1));
  EXPECT_EQ(table.content(1), nullptr);
  EXPECT_EQ(table.live().dram, kTile);
  EXPECT_FALSE(table.write(2, filled(4, 1)));
}

TEST(LiveTensors, WhoWritesAViewWritesAllThatShareItsStorage) {
  LiveTensors table;
  table.declare(1, spec_of({32, 64}), 7);
  table.declare(2, spec_of({64, 32}), 7, 1);  // a view
  table.declare(3, spec_of({1, 2048}), 7);    // known by the number of the storage alone
  EXPECT_EQ(table.live().dram, 2 * kTile);    // once
  ASSERT_TRUE(table.write(2, filled(2048, 5)));
  ASSERT_NE(table.content(1), nullptr);
  EXPECT_EQ(table.content(1)->device->at(0), 5);
  EXPECT_EQ(table.content(3), table.content(1));
  EXPECT_TRUE(table.share(1, 3));
}

TEST(LiveTensors, AViewOfAnotherNumberOfElementsIsACopyAndCounted) {
  LiveTensors table;
  table.declare(1, spec_of({32, 64}), 7);
  table.declare(2, spec_of({1, 64}), 7, 1);
  EXPECT_FALSE(table.share(1, 2));
  EXPECT_EQ(table.copied_views(), 1);
  table.declare(3, spec_of({64, 32}), 7);  // the number still means the first
  EXPECT_TRUE(table.share(1, 3));
}

TEST(LiveTensors, FreeingEndsTheStorageForAll) {
  LiveTensors table;
  table.declare(1, spec_of({32, 32}, BufferType::kL1), 7);
  table.declare(2, spec_of({32, 32}, BufferType::kL1), 7, 1);
  table.write(1, filled(1024, 1));
  table.free(2);
  EXPECT_FALSE(table.knows(1));
  EXPECT_FALSE(table.knows(2));
  EXPECT_EQ(table.live().l1, 0);
  EXPECT_EQ(table.peak().l1, kTile);
  table.declare(3, spec_of({32, 32}), 7);  // the number is free for another
  EXPECT_EQ(table.content(3), nullptr);
  table.free(99);  // nothing
}

TEST(LiveTensors, TheLastTensorOfAStorageEndsItWhenRetired) {
  LiveTensors table;
  table.declare(1, spec_of({32, 32}), 7);
  table.declare(2, spec_of({32, 32}), 7, 1);
  table.write(1, filled(1024, 3));
  table.retire(1);
  EXPECT_FALSE(table.knows(1));
  ASSERT_NE(table.content(2), nullptr);
  EXPECT_EQ(table.content(2)->device->at(0), 3);
  table.retire(2);
  EXPECT_EQ(table.live().dram, 0);
  EXPECT_EQ(table.size(), 0U);
}

TEST(LiveTensors, DeclaringAgainChangesNothing) {
  LiveTensors table;
  table.declare(1, spec_of({32, 32}));
  table.write(1, filled(1024, 3));
  table.declare(1, spec_of({64, 64}));
  ASSERT_NE(table.content(1), nullptr);
  EXPECT_EQ(table.live().dram, kTile);
  table.declare(0, spec_of({32, 32}));  // no number, no tensor
  EXPECT_EQ(table.size(), 1U);
}

TEST(LiveTensors, PlacesAreUsedAgain) {
  LiveTensors table;
  for (std::uint64_t id = 1; id <= 10'000; ++id) {
    table.declare(id, spec_of({32, 32}), id);
    table.write(id, filled(1024, 1));
    table.retire(id);
  }
  EXPECT_EQ(table.peak().dram, kTile);
  EXPECT_EQ(table.size(), 0U);
}

TEST(LiveTensors, TensorsOnTheHostTakeNothing) {
  TensorSpec host = spec_of({32, 32});
  host.storage.value = StorageType::kHost;
  EXPECT_EQ(bytes_of(host).dram, 0);
  EXPECT_EQ(bytes_of(spec_of({32, 32}, BufferType::kL1)).l1, kTile);
  TensorSpec unknown;
  EXPECT_EQ(bytes_of(unknown).dram, 0);
}

}  // namespace
}  // namespace opwright::replay
