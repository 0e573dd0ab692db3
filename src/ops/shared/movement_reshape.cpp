#include "ops/shared/movement_reshape.h"

#include <fmt/format.h>

#include "model/host_tensor.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_shards.h"

namespace opwright {
namespace {

constexpr std::int64_t kTile = 32;

OutputSpec view_of(const TensorSpec& input, const Reshape& asked, const Shape& padded) {
  OutputSpec out;
  out.spec = moved(input, asked.shape, memory_of(input));
  out.spec.storage = input.storage;
  const bool whole_tiles = last(asked.shape) % kTile == 0 && last(asked.shape, 2) % kTile == 0;
  out.padded = tiled(input) && !whole_tiles ? padded_shape(asked.shape, Layout::kTile) : padded;
  // Values that go out of sight stay in the padding that the call names.
  if (asked.padded && volume(asked.shape) != volume(input.shape)) out.padded = *asked.padded;
  // Rows that a shard pads stay padded: a view does not touch them.
  if (!tiled(input) && !asked.padded && sharded(input)) out.padded = padded_shape(out.spec);
  out.alias = asked.alias;
  return out;
}

Checked<OutputSpec> checked_view(const TensorSpec& input, const Reshape& asked, const Shape& padded,
                                 const Board& board) {
  OutputSpec out = view_of(input, asked, padded);
  OPWRIGHT_REQUIRE(volume(out.padded) <= volume(padded_shape(input)),
                   "MeshBuffer must be large enough to hold the tensor.");
  if (!on_host(input)) OPWRIGHT_CHECK(check_tensor(out.spec, board));
  return out;
}

// The most parts, at most `cores`, into which `units` divide evenly.
std::int64_t parts(std::int64_t units, std::int64_t cores) {
  for (std::int64_t n = cores; n > 1; --n)
    if (units % n == 0) return n;
  return 1;
}

// Where the copy goes when the config is sharded: the config's cores, with shards that fit the new shape. Blocks that
// do not divide evenly go interleaved.
MemoryConfig refitted(const MemoryConfig& memory, const Shape& padded, bool tiles) {
  ShardSpec shard = *memory.shard;
  const std::int64_t height = flat_height(padded);
  const std::int64_t width = last(padded);
  const std::int64_t cores = std::max<std::int64_t>(1, core_count(shard.grid));
  const std::int64_t unit = tiles ? kTile : 1;
  MemoryConfig out = memory;
  switch (memory.layout.value) {
    case MemoryLayout::kHeightSharded:
      shard.shape = {round_up(div_up(height, cores), unit), width};
      if (shard.shape[0] == height) out.layout.value = MemoryLayout::kWidthSharded;
      break;
    case MemoryLayout::kWidthSharded:
      shard.shape = {height, round_up(div_up(width, cores), unit)};
      break;
    default: {
      if (width % kTile != 0 || height == 0 || shard.grid.empty()) return interleaved(memory.buffer.value);
      CoreRange& range = shard.grid[0];
      const bool across = shard.orientation.value == Orientation::kColMajor;
      const std::int64_t columns = range.end.x - range.start.x + 1;
      const std::int64_t rows = range.end.y - range.start.y + 1;
      const std::int64_t down = parts(height / unit, across ? columns : rows);
      const std::int64_t along = parts(width / kTile, across ? rows : columns);
      shard.shape = {height / down, width / along};
      range.end = {range.start.x + (across ? down : along) - 1, range.start.y + (across ? along : down) - 1};
      shard.grid.resize(1);
    }
  }
  return with_shard(out, std::move(shard));
}

Checked<OutputSpec> copy_of(const TensorSpec& input, const Reshape& asked, const MemoryConfig& memory,
                            const Board& board) {
  const DType dtype = input.dtype.value;
  OPWRIGHT_REQUIRE(dtype != DType::kUint16 && dtype != DType::kUint8,
                   "Can only work with bfloat16/float32 or int32/uint32 tensors");
  const bool tiles = tiled(input);
  if (sharded(input) && !tiles) {
    OPWRIGHT_REQUIRE(in_l1(memory_of(input)), "Input tensor must be in L1");
    OPWRIGHT_REQUIRE(page_bytes(input) % board.l1_alignment == 0,
                     "Shard page size must be aligned to {}B for L1 Tensor", board.l1_alignment);
  }
  const Shape padded = padded_shape(asked.shape, input.layout.value);
  TensorSpec out = moved(input, asked.shape, memory.sharded() ? refitted(memory, padded, tiles) : memory);
  if (sharded(out) && !tiles) {
    OPWRIGHT_REQUIRE(out.memory->shard->shape[1] * element_bytes(dtype) % board.l1_alignment == 0,
                     "Shard page size must currently have L1 aligned page size");
    OPWRIGHT_REQUIRE(last(padded) % out.memory->shard->shape[1] == 0,
                     "Changing the last dimension of a sharded tensor is not supported unless the shard width matches "
                     "the input last dimension. Input shape: {}, New shape: {}, Shard width: {}",
                     shape_text(padded_shape(out)), shape_text(padded), out.memory->shard->shape[1]);
  }
  OPWRIGHT_CHECK(check_tensor(out, board));
  return output_spec(std::move(out));
}

}  // namespace

Checked<OutputSpec> reshape_output(const TensorSpec& input, const Reshape& asked, const Board& board) {
  OPWRIGHT_CHECK(require_allocated(input));
  const MemoryConfig own = memory_of(input);
  MemoryConfig memory = asked.memory == nullptr || on_host(input) ? own : *asked.memory;
  const bool specless = memory.sharded() && !memory.shard && !memory.nd_shard;
  if (specless) {
    OPWRIGHT_REQUIRE(own.sharded() && own.shard,
                     "ttnn.reshape: sharded output memory_config (layout=TensorMemoryLayout::{}) was supplied without "
                     "a shard_spec, and the input tensor is not sharded",
                     memory.layout.name());
    memory.shard = own.shard;
  }
  const Shape padded = asked.padded.value_or(padded_shape(asked.shape, input.layout.value));
  const Shape own_padded = padded_shape(input);
  if (asked.shape == input.shape && (!asked.padded || padded == own_padded || padded == asked.shape)) {
    const bool stays = specless || same_memory(memory, own) || on_host(input);
    OutputSpec out = output_spec(stays ? input : moved(input, input.shape, memory));
    if (stays)
      out.alias = asked.alias;
    else
      OPWRIGHT_CHECK(check_tensor(out.spec, board));
    return out;
  }
  if (volume(input.shape) == 0) {
    OPWRIGHT_REQUIRE(volume(asked.shape) == 0, "Tensor volume is 0, but shape's volume is not");
    OPWRIGHT_REQUIRE(
        !own.sharded() || !own.shard || last(padded) == last(own_padded) || own.shard->shape[1] == last(own_padded),
        "Changing the last dimension of a sharded tensor is not supported unless the shard width matches "
        "the input last dimension. Input shape: {}, New shape: {}, Shard width: {}",
        shape_text(own_padded), shape_text(padded), own.shard->shape[1]);
    return view_of(input, asked, padded);
  }
  OPWRIGHT_REQUIRE(volume(asked.shape) != 0, "Tensor volume is not 0, but shape volume is 0");
  const bool same_volume = volume(asked.shape) == volume(input.shape);
  // What lies beside the values in memory becomes visible; only where rows stay rows is that a defined place.
  const bool rows_stay = last(padded) == last(own_padded);
  if (on_host(input)) {
    OPWRIGHT_REQUIRE(same_volume || rows_stay, "Attempting to reshape between two shapes with different volumes");
    return view_of(input, asked, padded);
  }
  const bool is_view = last(input.shape) == last(asked.shape) && memory.sharded() == own.sharded() &&
                       in_l1(memory) == in_l1(own) &&
                       (!tiled(input) || last(input.shape, 2) == last(asked.shape, 2) ||
                        (last(asked.shape, 2) % kTile == 0 && last(input.shape, 2) % kTile == 0));
  if (is_view) return checked_view(input, asked, padded, board);
  if (!same_volume) {
    OPWRIGHT_REQUIRE(
        tiled(input) && padded.size() >= 2 && last(padded, 2) % kTile == 0 && last(padded) % kTile == 0 && rows_stay,
        "Attempting to reshape between two shapes with different volumes");
    return checked_view(input, asked, padded, board);
  }
  return copy_of(input, asked, memory, board);
}

}  // namespace opwright
