// Tensors for tests, made in one line. For tests only.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/value.h"  // completes the members of tensor_spec.h

namespace opwright {

inline MemoryConfig interleaved(BufferType buffer = BufferType::kDram) {
  MemoryConfig memory;
  memory.layout.value = MemoryLayout::kInterleaved;
  memory.buffer.value = buffer;
  return memory;
}

inline ShardSpec shard(Shape shape, std::vector<CoreRange> grid, Orientation orientation = Orientation::kRowMajor) {
  ShardSpec out;
  out.shape = std::move(shape);
  out.grid = std::move(grid);
  out.orientation.value = orientation;
  return out;
}

inline MemoryConfig sharded_memory(MemoryLayout layout, ShardSpec spec, BufferType buffer = BufferType::kL1) {
  MemoryConfig memory = interleaved(buffer);
  memory.layout.value = layout;
  memory.shard = std::move(spec);
  return memory;
}

inline MemoryConfig nd_memory(ShardSpec spec, std::string distribution, BufferType buffer = BufferType::kL1) {
  MemoryConfig memory = interleaved(buffer);
  memory.layout.value = MemoryLayout::kNdSharded;
  memory.nd_shard = std::move(spec);
  memory.nd_shard->distribution = std::move(distribution);
  return memory;
}

inline TensorSpec tensor(Shape shape, DType dtype = DType::kBfloat16, Layout layout = Layout::kTile,
                         MemoryConfig memory = interleaved()) {
  TensorSpec spec;
  spec.shape = std::move(shape);
  spec.has_shape = true;
  spec.dtype.value = dtype;
  spec.layout.value = layout;
  spec.storage.value = StorageType::kDevice;
  spec.memory = std::move(memory);
  return spec;
}

}  // namespace opwright
