// How sliding-window operators spread their images over cores.
#pragma once

#include <cstdint>
#include <optional>

#include "dialect/ttnn/board.h"
#include "dialect/ttnn/conv_config.h"
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

// What the library looks at before it spreads a convolution; whoever asks fills it in from its own reading of the call.
struct ConvShape {
  const TensorSpec* input = nullptr;
  std::int64_t image_pixels = 0;  // of all images
  std::int64_t pixels = 0;        // of the output
  std::int64_t kernel_h = 1;
  std::int64_t kernel_w = 1;
  std::int64_t in_channels = 0;
  std::int64_t out_channels = 0;
  bool pointwise = false;  // one pixel in, one pixel out: a matmul
  bool depthwise = false;
  DType weight_dtype = DType::kBfloat16;
  ConvConfig config;
};

// How the input of a convolution is spread: as it lies, as the call asks, or as takes least room.
Checked<Spread> conv_spread(const ConvShape& conv, DType dtype, const Board& board);

// The memory of `pixels` x `channels` spread so; channels are padded to whole tiles on every core.
MemoryConfig memory_of(const Spread& spread, std::int64_t pixels, std::int64_t channels, std::int64_t tile_height = 32,
                       std::int64_t tile_width = 32);

}  // namespace opwright
