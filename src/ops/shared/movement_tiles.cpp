#include "ops/shared/movement_tiles.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/host_tensor.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_shards.h"

namespace opwright {
namespace {

constexpr std::int64_t kTile = 32;

bool two_dimensional(const MemoryConfig& memory) { return memory.shard && memory.shard->shape.size() == 2; }

}  // namespace

Checked<void> require_aligned_rows(const TensorSpec& input, const Board& board) {
  const MemoryConfig memory = memory_of(input);
  if (!memory.sharded() || !two_dimensional(memory) || memory.layout.value == MemoryLayout::kHeightSharded) return {};
  const std::int64_t width = memory.shard->shape[1];
  const std::int64_t bytes = width * element_bytes(input.dtype.value);
  const std::int64_t alignment = in_l1(memory) ? board.l1_alignment : board.dram_alignment;
  OPWRIGHT_REQUIRE(bytes % alignment == 0,
                   "Input row-major shard width {} gives page size {} bytes, which must be aligned to {} bytes L1 SRAM "
                   "buffer alignment requirement",
                   width, bytes, alignment);
  return {};
}

MemoryConfig tiles_memory(const TensorSpec& input, const MemoryConfig& asked, const Shape& padded) {
  const MemoryConfig own = memory_of(input);
  if (!own.sharded() || !asked.sharded() || !(own.layout == asked.layout) || !two_dimensional(own)) return asked;
  if (!in_l1(own) || !in_l1(asked)) return asked;
  ShardSpec shard = *own.shard;
  if (own.layout.value == MemoryLayout::kWidthSharded) shard.shape[0] = flat_height(padded);
  if (shard.shape[0] % kTile != 0 || shard.shape[1] % kTile != 0) return asked;
  return with_shard(asked, std::move(shard));
}

Checked<OutputSpec> padded_tiles(const TensorSpec& input, const Shape& padded, const MemoryConfig& memory, DType dtype,
                                 const Board& board) {
  OPWRIGHT_REQUIRE(input.dtype.value != DType::kUint8,
                   "Can only tilize bfloat16/float32 or int32/uint32/uint16 or fp8_e4m3 tensors");
  const std::size_t rank = input.shape.size();
  OPWRIGHT_REQUIRE(padded.size() >= rank, "ShapeBase[] index out of range. {} not in [-4, {})", padded.size(),
                   padded.size());
  for (std::size_t i = 0; rank > 1 && i < rank; ++i)
    OPWRIGHT_REQUIRE(input.shape[i] <= padded[i],
                     "Output tensor shape {} must be greater than or equal to input shape {} in each dimension, but is "
                     "smaller in dimension {}",
                     shape_text(padded), shape_text(input.shape), i);
  OPWRIGHT_REQUIRE(last(padded) % kTile == 0 && last(padded, 2) % kTile == 0,
                   "To be tilizable output tensor shape {} must be divisible by tile size ({}, {})", shape_text(padded),
                   kTile, kTile);
  OutputSpec out;
  // Without a single element the library makes the padding itself the tensor.
  out.spec = moved(input, volume(input.shape) == 0 ? padded : input.shape, tiles_memory(input, memory, padded));
  out.spec.layout.value = Layout::kTile;
  out.spec.dtype.value = dtype;
  out.padded = padded;
  OPWRIGHT_CHECK(check_tensor(out.spec, board));
  OPWRIGHT_CHECK(require_aligned_rows(input, board));
  return out;
}

DType row_dtype(DType dtype) { return dtype == DType::kBfloat8B ? DType::kBfloat16 : dtype; }

Checked<MemoryConfig> rows_memory(const TensorSpec& input, const MemoryConfig* asked, const Shape& shape) {
  const MemoryConfig own = memory_of(input);
  const MemoryConfig memory = asked == nullptr ? own : *asked;
  if (!memory.sharded() || !two_dimensional(memory)) return memory;
  ShardSpec shard = *memory.shard;
  const bool width = memory.layout.value == MemoryLayout::kWidthSharded;
  const bool height = memory.layout.value == MemoryLayout::kHeightSharded;
  if (!own.sharded() || !two_dimensional(own)) {
    if (width) shard.shape[0] = flat_height(shape);
    if (height)
      shard.shape[0] = round_up(div_up(flat_height(shape), std::max<std::int64_t>(1, core_count(shard.grid))), kTile);
    return with_shard(memory, std::move(shard));
  }
  const bool own_height = own.layout.value == MemoryLayout::kHeightSharded;
  const bool own_width = own.layout.value == MemoryLayout::kWidthSharded;
  if (own_height)
    OPWRIGHT_REQUIRE(height,
                     "Output memory config layout must be HEIGHT_SHARDED when output is sharded but got "
                     "TensorMemoryLayout::{}",
                     memory.layout.name());
  if (own_width)
    OPWRIGHT_REQUIRE(width || memory.layout.value == MemoryLayout::kBlockSharded,
                     "Output memory config layout (TensorMemoryLayout::{}) must match input tensor memory layout "
                     "(TensorMemoryLayout::{}) (or be BLOCK_SHARDED)",
                     memory.layout.name(), own.layout.name());
  if (!own_height && !own_width && width)
    OPWRIGHT_REQUIRE(own.shard->shape[1] == shard.shape[1],
                     "BLOCK_SHARDED -> WIDTH_SHARDED requires matching column shard width; got input={} output={}",
                     own.shard->shape[1], shard.shape[1]);
  if (height || width)
    OPWRIGHT_REQUIRE(in_l1(memory), "{} -> {} output must be in L1; got buffer_type=BufferType::{}", own.layout.name(),
                     memory.layout.name(), memory.buffer.name());
  if (own_height) {
    shard = *own.shard;
    shard.shape[1] = last(shape);
  } else if (own_width && width) {
    shard = *own.shard;
    shard.shape[0] = flat_height(shape);
  }
  return with_shard(memory, std::move(shard));
}

}  // namespace opwright
