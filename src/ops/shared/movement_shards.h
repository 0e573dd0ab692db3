// Shard specs that the library makes up where a call asks for a sharded output without saying how, or where the shape
// changes under a spec that is inherited.
#pragma once

#include <optional>
#include <vector>

#include "dialect/ttnn/board.h"
#include "dialect/ttnn/tensor_layout.h"

namespace opwright {

// Heights of all dimensions but the last, multiplied.
std::int64_t flat_height(const Shape& shape);

// The shard scaled as the shape is; nothing when that does not come out even. Ranks are equal.
std::optional<ShardSpec> scaled_shard(const ShardSpec& shard, const Shape& from, const Shape& to);

// The first `count` cores of the board's grid, row by row or column by column.
std::vector<CoreRange> first_cores(std::int64_t count, const Board& board, bool by_column);

// A spec over as much of the compute grid as the shape fills, in steps of `step` elements (32 for tiles).
ShardSpec fresh_shard(const Board& board, const Shape& padded, MemoryLayout layout, Orientation orientation,
                      std::int64_t step = 32);

// A sharded config without a spec becomes one with: the input's scaled where the layouts agree, else a fresh one.
MemoryConfig completed(const MemoryConfig& asked, const TensorSpec& input, const Shape& from, const Shape& to,
                       const Board& board);

// Height sharded over the cores of `grid`, as few rows each as possible.
MemoryConfig height_sharded(const Shape& shape, const std::vector<CoreRange>& grid, BufferType buffer);

}  // namespace opwright
