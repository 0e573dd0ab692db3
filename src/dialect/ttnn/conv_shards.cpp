#include "dialect/ttnn/conv_shards.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialect/ttnn/matmul_program.h"
#include "dialect/ttnn/tensor_layout.h"
#include "model/host_tensor.h"

namespace opwright {
namespace {

CoreCoord extent(const std::vector<CoreRange>& grid) {
  const CoreRange box = bounding_box(grid);
  return {box.end.x - box.start.x + 1, box.end.y - box.start.y + 1};
}

// The most cores, `most` at first, for which no core is left without work when each takes whole blocks of `step`.
std::int64_t busy_cores(std::int64_t work, std::int64_t most, std::int64_t step = 1) {
  std::int64_t cores = std::max<std::int64_t>(1, most);
  while (cores > 1) {
    const std::int64_t padded = round_up(work, cores * step);
    if (padded - work < padded / cores) break;
    --cores;
  }
  return cores;
}

std::int64_t common_divisor(std::int64_t a, std::int64_t b, std::int64_t most) {
  std::int64_t d = std::max<std::int64_t>(1, most);
  while (d > 1 && (a % d != 0 || b % d != 0)) --d;
  return d;
}

}  // namespace

std::int64_t Spread::pixel_cores() const {
  if (layout == MemoryLayout::kWidthSharded) return 1;
  if (layout == MemoryLayout::kHeightSharded) return std::max<std::int64_t>(1, core_count(grid));
  return orientation == Orientation::kColMajor ? extent(grid).x : extent(grid).y;
}

std::int64_t Spread::channel_cores() const {
  if (layout == MemoryLayout::kHeightSharded) return 1;
  if (layout == MemoryLayout::kWidthSharded) return std::max<std::int64_t>(1, core_count(grid));
  return orientation == Orientation::kColMajor ? extent(grid).y : extent(grid).x;
}

Spread spread(const SpreadWish& wish, const Board& board) {
  Spread out;
  out.layout = wish.layout;
  const std::int64_t work = div_up(wish.pixels, wish.tile_height);
  const std::int64_t step = std::max<std::int64_t>(1, wish.block_height);
  if (wish.layout == MemoryLayout::kHeightSharded) {
    out.grid = first_cores(busy_cores(work, board.cores(), step), board.grid, true);
  } else if (wish.layout == MemoryLayout::kWidthSharded) {
    const std::int64_t blocks = div_up(wish.in_channels, wish.tile_width);
    const std::int64_t cores =
        wish.pad_channels ? busy_cores(blocks, board.cores()) : common_divisor(blocks, blocks, board.cores());
    out.grid = first_cores(cores, board.grid, true);
  } else {
    out.orientation = wish.block_orientation;
    const bool turned = wish.block_orientation == Orientation::kColMajor;
    const std::int64_t down = busy_cores(work, turned ? board.grid.x : board.grid.y, step);
    const std::int64_t blocks = div_up(wish.in_channels, wish.alignment);
    const std::int64_t most = turned ? board.grid.y : board.grid.x;
    const std::int64_t across = wish.pad_channels
                                    ? busy_cores(blocks, most)
                                    : common_divisor(div_up(wish.out_channels, wish.tile_width), blocks, most);
    out.grid = {{{0, 0}, turned ? CoreCoord{down - 1, across - 1} : CoreCoord{across - 1, down - 1}}};
  }
  return out;
}

Spread output_spread(const Spread& input, std::int64_t out_channels, bool matmul, const Board& board) {
  Spread out = input;
  if (matmul || input.layout == MemoryLayout::kHeightSharded) return out;
  const std::int64_t tiles = div_up(out_channels, 32);
  if (input.layout == MemoryLayout::kWidthSharded) {
    out.grid = first_cores(busy_cores(tiles, board.cores()), board.grid, true);
    return out;
  }
  const bool turned = input.orientation == Orientation::kColMajor;
  const std::int64_t across = busy_cores(tiles, turned ? board.grid.y : board.grid.x);
  const std::int64_t down = input.pixel_cores();
  out.grid = {{{0, 0}, turned ? CoreCoord{down - 1, across - 1} : CoreCoord{across - 1, down - 1}}};
  return out;
}

MemoryConfig memory_of(const Spread& spread, std::int64_t pixels, std::int64_t channels, std::int64_t tile_height,
                       std::int64_t tile_width) {
  MemoryConfig out;
  out.layout.value = spread.layout;
  out.buffer.value = BufferType::kL1;
  ShardSpec shard;
  shard.grid = spread.grid;
  shard.orientation.value = spread.orientation;
  const std::int64_t down = spread.pixel_cores();
  const std::int64_t across = spread.channel_cores();
  const std::int64_t height = spread.layout == MemoryLayout::kWidthSharded ? round_up(pixels, tile_height)
                                                                           : round_up(pixels, down * tile_height);
  shard.shape = {height / down, round_up(channels, across * tile_width) / across};
  out.shard = std::move(shard);
  return out;
}

namespace {

// Rough bytes that a core needs for a convolution spread in this way: the blocks of activations and weights, the
// partial sums and the output.
std::int64_t appetite(const ConvShape& conv, MemoryLayout layout, DType dtype, const Board& board,
                      std::int64_t alignment) {
  const SpreadWish wish{.layout = layout,
                        .pixels = conv.pixels,
                        .in_channels = conv.in_channels,
                        .out_channels = conv.out_channels,
                        .alignment = alignment,
                        .pad_channels = !conv.pointwise,
                        .block_height = conv.config.block_height / 32};
  const Spread in = spread(wish, board);
  const Spread out = output_spread(in, conv.out_channels, conv.pointwise, board);
  const MemoryConfig memory = memory_of(out, conv.pixels, conv.out_channels);
  const std::int64_t rows = memory.shard->shape[0] / 32;
  const std::int64_t columns = memory.shard->shape[1] / 32;
  const std::int64_t channels = round_up(conv.in_channels, alignment * in.channel_cores()) / in.channel_cores();
  std::int64_t depth = div_up(channels * conv.kernel_w, 32);
  if (layout == MemoryLayout::kWidthSharded) depth = div_up(channels * conv.kernel_w * conv.kernel_h, 32);
  const std::int64_t block = conv.config.block_height > 0 ? std::min(rows, conv.config.block_height / 32) : rows;
  const std::int64_t tile = 2048;
  const std::int64_t weights =
      depth * columns * tile_bytes(conv.weight_dtype) * (layout == MemoryLayout::kHeightSharded ? conv.kernel_h : 1);
  const std::int64_t activations = 2 * block * depth * tile;
  const std::int64_t result = rows * columns * tile_bytes(is_integer(dtype) ? DType::kBfloat16 : dtype);
  const std::int64_t image = div_up(conv.image_pixels, in.pixel_cores()) * channels * 2;
  return weights + activations + result + block * columns * tile + image;
}

MemoryLayout choose_layout(const ConvShape& conv, DType dtype, const Board& board, std::int64_t alignment) {
  MemoryLayout best = MemoryLayout::kHeightSharded;
  std::int64_t least = appetite(conv, best, dtype, board, alignment);
  for (const MemoryLayout layout : {MemoryLayout::kBlockSharded, MemoryLayout::kWidthSharded}) {
    if (layout == MemoryLayout::kWidthSharded && conv.pointwise) continue;
    const std::int64_t bytes = appetite(conv, layout, dtype, board, alignment);
    const SpreadWish wish{.layout = layout,
                          .pixels = conv.pixels,
                          .in_channels = conv.in_channels,
                          .out_channels = conv.out_channels,
                          .alignment = alignment};
    const Spread in = spread(wish, board);
    const Spread out = output_spread(in, conv.out_channels, conv.pointwise, board);
    const std::int64_t cores = std::max(core_count(in.grid), core_count(out.grid));
    if (bytes >= least || (layout == MemoryLayout::kBlockSharded && cores < board.grid.x)) continue;
    best = layout;
    least = bytes;
  }
  return best;
}

// Whether a convolution takes shards as they lie; else it spreads the image anew.
bool fits(const ConvShape& conv, const MemoryConfig& input) {
  const ShardSpec& shard = *input.shard;
  const bool turned = shard.orientation.value == Orientation::kColMajor;
  const bool in_blocks = input.layout.value == MemoryLayout::kBlockSharded;
  if (turned && !in_blocks) return false;
  std::int64_t alignment = 32;
  if (!conv.pointwise && !conv.depthwise && input.layout.value != MemoryLayout::kWidthSharded &&
      conv.input->layout.value == Layout::kRowMajor)
    alignment = shard.shape[1] % 32 == 0 ? 32 : shard.shape[1] % 16 == 0 ? 16 : shard.shape[1] % 8 == 0 ? 8 : 32;
  if (shard.shape[1] % alignment != 0) return false;
  if (!conv.pointwise) return true;
  const CoreCoord cores = extent(shard.grid);
  if (in_blocks && conv.in_channels != (turned ? cores.y : cores.x) * shard.shape[1]) return false;
  return shard.shape[0] % 32 == 0;
}

}  // namespace

Checked<Spread> conv_spread(const ConvShape& conv, DType dtype, const Board& board) {
  const MemoryConfig input = conv.input->memory.value_or(MemoryConfig{});
  const bool given = !conv.config.reshard && input.sharded() && input.shard && input.shard->shape.size() == 2;
  if (given && fits(conv, input)) {
    const bool turned = input.shard->orientation.value == Orientation::kColMajor;
    return Spread{input.layout.value, input.shard->grid, turned ? Orientation::kColMajor : Orientation::kRowMajor};
  }
  const bool matmul = conv.pointwise;
  const bool from_dram = input.buffer.value != BufferType::kL1;
  const bool whole_tiles = matmul || conv.depthwise || (conv.input->layout.value == Layout::kTile && !from_dram) ||
                           conv.config.shard_layout == std::optional(MemoryLayout::kWidthSharded);
  const std::int64_t alignment = whole_tiles ? 32 : 8;
  MemoryLayout layout = MemoryLayout::kInterleaved;
  if (given && conv.pointwise && input.layout.value == MemoryLayout::kBlockSharded)
    layout = MemoryLayout::kBlockSharded;
  else if (conv.config.shard_layout)
    layout = *conv.config.shard_layout;
  else if (!given)
    layout = choose_layout(conv, dtype, board, alignment);
  if (layout != MemoryLayout::kHeightSharded && layout != MemoryLayout::kBlockSharded &&
      layout != MemoryLayout::kWidthSharded)
    return refuse(fmt::format("Conv2d supports Height, Block or Width Sharded Layouts but got TensorMemoryLayout::{}",
                              name_of(layout)),
                  "conv_config");
  return spread({.layout = layout,
                 .block_orientation = conv.config.transpose_shards ? Orientation::kColMajor : Orientation::kRowMajor,
                 .pixels = conv.pixels,
                 .in_channels = conv.in_channels,
                 .out_channels = conv.out_channels,
                 .alignment = alignment,
                 .pad_channels = !matmul,
                 .block_height = conv.config.block_height / 32},
                board);
}

}  // namespace opwright
