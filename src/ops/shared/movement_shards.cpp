#include "ops/shared/movement_shards.h"

#include <algorithm>

#include "ops/shared/movement.h"

namespace opwright {

std::int64_t flat_height(const Shape& shape) {
  std::int64_t height = 1;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) height *= shape[i];
  return height;
}

std::optional<ShardSpec> scaled_shard(const ShardSpec& shard, const Shape& from, const Shape& to) {
  const std::int64_t from_height = flat_height(from);
  const std::int64_t from_width = last(from);
  if (from_height == 0 || from_width == 0 || shard.shape.size() != 2) return std::nullopt;
  const std::int64_t height = shard.shape[0] * flat_height(to);
  const std::int64_t width = shard.shape[1] * last(to);
  if (height % from_height != 0 || width % from_width != 0) return std::nullopt;
  ShardSpec out = shard;
  out.shape = {height / from_height, width / from_width};
  return out;
}

std::vector<CoreRange> first_cores(std::int64_t count, const Board& board, bool by_column) {
  const std::int64_t line = by_column ? board.grid.y : board.grid.x;
  const std::int64_t lines = count / line;
  const std::int64_t rest = count % line;
  std::vector<CoreRange> out;
  const auto range = [&](std::int64_t first, std::int64_t last_line, std::int64_t length) {
    out.push_back(by_column ? CoreRange{{first, 0}, {last_line, length - 1}}
                            : CoreRange{{0, first}, {length - 1, last_line}});
  };
  if (lines > 0) range(0, lines - 1, line);
  if (rest > 0) range(lines, lines, rest);
  return out;
}

ShardSpec fresh_shard(const Board& board, const Shape& padded, MemoryLayout layout, Orientation orientation,
                      std::int64_t step) {
  const bool by_column = orientation == Orientation::kColMajor;
  const std::int64_t height = std::max<std::int64_t>(1, flat_height(padded));
  const std::int64_t width = std::max<std::int64_t>(1, last(padded));
  const auto share = [&](std::int64_t size, std::int64_t cores) { return round_up(div_up(size, cores), step); };
  ShardSpec out;
  out.orientation.value = orientation == Orientation::kColMajor ? orientation : Orientation::kRowMajor;
  if (layout == MemoryLayout::kHeightSharded) {
    out.shape = {share(height, board.cores()), width};
    out.grid = first_cores(div_up(height, out.shape[0]), board, by_column);
  } else if (layout == MemoryLayout::kWidthSharded) {
    out.shape = {height, share(width, board.cores())};
    out.grid = first_cores(div_up(width, out.shape[1]), board, by_column);
  } else {
    out.shape = {share(height, by_column ? board.grid.x : board.grid.y),
                 share(width, by_column ? board.grid.y : board.grid.x)};
    const std::int64_t down = div_up(height, out.shape[0]);
    const std::int64_t along = div_up(width, out.shape[1]);
    out.grid = {{{0, 0}, {(by_column ? down : along) - 1, (by_column ? along : down) - 1}}};
  }
  return out;
}

MemoryConfig completed(const MemoryConfig& asked, const TensorSpec& input, const Shape& from, const Shape& to,
                       const Board& board) {
  if (!asked.sharded() || asked.shard || asked.nd_shard) return asked;
  const MemoryConfig own = memory_of(input);
  if (own.sharded() && own.shard && own.layout == asked.layout && from.size() == to.size()) {
    const auto scaled = scaled_shard(*own.shard, from, to);
    const bool whole_tiles = scaled && scaled->shape[0] % 32 == 0 && scaled->shape[1] % 32 == 0;
    if (scaled && (!tiled(input) || whole_tiles)) return with_shard(asked, *scaled);
  }
  const Orientation orientation = own.shard ? own.shard->orientation.value : Orientation::kRowMajor;
  return with_shard(asked, fresh_shard(board, to, asked.layout.value, orientation));
}

MemoryConfig height_sharded(const Shape& shape, const std::vector<CoreRange>& grid, BufferType buffer) {
  MemoryConfig out;
  out.layout.value = MemoryLayout::kHeightSharded;
  out.buffer.value = buffer;
  ShardSpec shard;
  shard.grid = grid;
  shard.shape = {div_up(flat_height(shape), std::max<std::int64_t>(1, core_count(grid))), last(shape)};
  shard.orientation.value = Orientation::kRowMajor;
  out.shard = std::move(shard);
  return out;
}

}  // namespace opwright
