// How sliding-window operators spread their images over cores.
#pragma once

#include <cstdint>
#include <optional>

#include "model/board.h"
#include "model/conv_call.h"
#include "model/tensor_spec.h"

namespace opwright {

// A layout on cores: rows of pixels, columns of channels.
struct Spread {
  MemoryLayout layout = MemoryLayout::kHeightSharded;
  std::vector<CoreRange> grid;
  Orientation orientation = Orientation::kRowMajor;

  std::int64_t pixel_cores() const;
  std::int64_t channel_cores() const;
};

struct SpreadWish {
  MemoryLayout layout = MemoryLayout::kHeightSharded;
  Orientation block_orientation = Orientation::kRowMajor;
  std::int64_t pixels = 0;  // of the output
  std::int64_t in_channels = 0;
  std::int64_t out_channels = 0;
  std::int64_t alignment = 32;    // of the input's channels
  bool pad_channels = true;       // else the cores must divide them
  std::int64_t tile_height = 32;  // a shard's height is a multiple of it
  std::int64_t tile_width = 32;
  std::int64_t block_height = 0;  // act_block_h_override in tiles of a core's work; 0: any
};
Spread spread(const SpreadWish& wish, const Board& board);
// The output of a convolution whose input is spread so.
Spread output_spread(const Spread& input, std::int64_t out_channels, bool matmul, const Board& board);

// How the input of a convolution is spread: as it lies, as the call asks, or as takes least room.
Checked<Spread> conv_spread(const ConvCall& conv, DType dtype, const Board& board);

// The memory of `pixels` x `channels` spread so; channels are padded to whole tiles on every core.
MemoryConfig memory_of(const Spread& spread, std::int64_t pixels, std::int64_t channels, std::int64_t tile_height = 32,
                       std::int64_t tile_width = 32);

}  // namespace opwright
