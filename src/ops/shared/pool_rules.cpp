#include "ops/shared/pool_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dialect/ttnn/conv_shards.h"
#include "dialect/ttnn/tensor_layout.h"
#include "model/host_tensor.h"
#include "ops/shared/slice_config.h"
#include "ops/shared/window.h"

namespace opwright {
namespace {

bool deallocated(const TensorSpec& spec) {
  return std::ranges::any_of(spec.more, [](const auto& field) {
    const bool* flag = field.second.as_bool();
    return field.first == "deallocated" && flag != nullptr && *flag;
  });
}

struct PoolCall {
  Window window;
  std::int64_t channels = 0;
  const TensorSpec* input = nullptr;
  DType dtype = DType::kBfloat16;
  Layout layout = Layout::kRowMajor;
  std::optional<MemoryLayout> scheme;
};

Checked<PoolCall> pool_call(const BoundCall& call) {
  PoolCall pool;
  pool.input = call.tensor("input_tensor");
  if (pool.input == nullptr)
    return type_error(call.op, "input_tensor",
                      call.find("input_tensor") == nullptr ? Value() : *call.find("input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const bool ceil_mode, call.flag("ceil_mode", false));
  OPWRIGHT_CHECK_ASSIGN(pool.channels, call.integer("channels", 0));
  OPWRIGHT_REQUIRE(pool.channels > 0, "Pool2D: Channels must be greater than 0, got {}", pool.channels);
  OPWRIGHT_CHECK_ASSIGN(pool.window, window_of(call, "input_h", "input_w", ceil_mode));
  OPWRIGHT_REQUIRE(bounded({pool.window.pixels(), pool.channels}),
                   "Pool2D: {} channels over {} pixels are larger than any memory", pool.channels,
                   pool.window.pixels());
  OPWRIGHT_CHECK_ASSIGN(pool.dtype, call.dtype("dtype", DType::kBfloat16));
  OPWRIGHT_CHECK_ASSIGN(pool.layout, call.layout("output_layout", Layout::kRowMajor));
  if (call.passed("applied_shard_scheme")) {
    OPWRIGHT_CHECK_ASSIGN(const std::string word, call.text("applied_shard_scheme", ""));
    pool.scheme = parse_memory_layout(word).value;
  }
  return pool;
}

Checked<void> check_pool(const PoolCall& pool) {
  const TensorSpec& input = *pool.input;
  const Window& w = pool.window;
  OPWRIGHT_REQUIRE(input.storage.value != StorageType::kHost && !deallocated(input), "Input Tensor is not allocated");
  const std::size_t rank = input.shape.size();
  OPWRIGHT_REQUIRE(rank >= 2 && rank <= 4, "Pool2D: Input tensor must be rank 2, 3, or 4, got rank {}", rank);
  OPWRIGHT_REQUIRE(rank != 2 || (w.batch == 1 && pool.channels == 1),
                   "Pool2D: For rank-2 input [H, W], batch_size and channels must be 1, got batch_size={}, channels={}",
                   w.batch, pool.channels);
  OPWRIGHT_REQUIRE(
      rank != 3 || (w.height == input.shape[0] && w.width == input.shape[1] && pool.channels == input.shape[2]),
      "Pool2D: For rank-3 input [H, W, C], dimensions must match: input_h={}, input_w={}, channels={}, but got "
      "shape {}",
      w.height, w.width, pool.channels, shape_text(input.shape));
  OPWRIGHT_REQUIRE(
      w.top <= w.kernel_h / 2 && w.bottom <= w.kernel_h / 2 && w.left <= w.kernel_w / 2 && w.right <= w.kernel_w / 2,
      "Pool2D: Padding ({}, {}, {}) should not exceed half of kernel size ({}, {})", w.top, w.bottom, w.left,
      w.kernel_h, w.kernel_w);
  OPWRIGHT_REQUIRE(input.dtype.value == DType::kBfloat16 || is_block_float(input.dtype.value),
                   "Only BFLOAT16 supported for now");
  OPWRIGHT_REQUIRE(!(is_block_float(pool.dtype) && pool.layout == Layout::kRowMajor),
                   "BFLOAT8_B/BFLOAT4_B output data format is not supported with ROW_MAJOR layout");
  OPWRIGHT_REQUIRE(volume(input.shape) != 0, "Shard shape must have non zero volume!");
  // Too little data makes the library read past its end.
  const std::int64_t channels = input.shape.back();
  OPWRIGHT_REQUIRE(volume(input.shape) / channels >= w.batch * w.height * w.width,
                   "Pool2D: input of shape {} is smaller than {} images of {}x{}", shape_text(input.shape), w.batch,
                   w.height, w.width);
  OPWRIGHT_REQUIRE(channels == pool.channels || pool.scheme == std::optional(MemoryLayout::kHeightSharded),
                   "For width and block sharding, input channels ({}) should be divisible by num_shards ({})", channels,
                   div_up(pool.channels, 16));
  return {};
}

// Half tiles of channels on a core where they are filled, else whole ones.
MemoryConfig pool_memory(const Spread& out, std::int64_t pixels, std::int64_t channels, std::int64_t tile_height) {
  MemoryConfig memory = memory_of(out, pixels, channels, tile_height, 1);
  const std::int64_t wide = div_up(channels, out.channel_cores());
  const bool halves = wide <= 16 || (wide % 16 == 0 && tile_height == 1);
  memory.shard->shape[1] = round_up(wide, halves ? 16 : 32);
  return memory;
}

// An image that finds no room in L1, once as it comes and once with the borders of its neighbours, goes through DRAM in
// slices, and its result lies there as an image.
bool in_slices(const PoolCall& pool, const Board& board) {
  const MemoryConfig input = pool.input->memory.value_or(MemoryConfig{});
  if (input.sharded() || input.buffer.value == BufferType::kL1 || pool.scheme) return false;
  const Window& w = pool.window;
  const std::int64_t bytes = w.batch * w.height * w.width * round_up(pool.channels, 16) * 2;
  return 2 * div_up(bytes, board.cores()) > board.l1_bank - board.l1_small;
}

Spread by_scheme(const PoolCall& pool, MemoryLayout layout, bool automatic, const Board& board) {
  const bool tiled = pool.input->layout.value == Layout::kTile || pool.layout == Layout::kTile;
  const SpreadWish wish{.layout = layout,
                        .pixels = pool.window.pixels(),
                        .in_channels = pool.channels,
                        .out_channels = pool.channels,
                        .alignment = tiled || automatic ? 32 : 16,
                        .pad_channels = false,
                        .tile_height = pool.layout == Layout::kTile ? 32 : 1,
                        .tile_width = tiled ? 32 : 16};
  return spread(wish, board);
}

// The scheme that takes least room on a core: its share of the output in whole tiles, and the pixels under a large
// window, twice. Of equals the first, unless they are equal without whole tiles too.
Spread choose(const PoolCall& pool, const Board& board) {
  constexpr std::int64_t kSmallWindow = 16;
  const std::int64_t taps = pool.window.kernel_h * pool.window.kernel_w;
  const std::int64_t beside = taps > kSmallWindow ? 2 * taps : 0;
  const std::int64_t pixels = pool.window.pixels();
  Spread best;
  std::pair least{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max()};
  for (const MemoryLayout layout :
       {MemoryLayout::kHeightSharded, MemoryLayout::kWidthSharded, MemoryLayout::kBlockSharded}) {
    const Spread candidate = by_scheme(pool, layout, true, board);
    const bool columns = layout == MemoryLayout::kWidthSharded;
    const std::int64_t unit = columns || pool.channels <= 16 ? 16 : 32;
    const MemoryConfig tiles = memory_of(candidate, pixels, pool.channels, 32, unit);
    const std::int64_t width = tiles.shard->shape[1];
    const std::int64_t rows = memory_of(candidate, pixels, pool.channels, 1, unit).shard->shape[0];
    const std::pair size{((columns ? pixels : tiles.shard->shape[0]) + beside) * width, rows * width};
    if (size.first > least.first || (size.first == least.first && size != least)) continue;
    least = size;
    best = candidate;
  }
  return best;
}

Checked<MemoryConfig> output_memory(const BoundCall& call, const PoolCall& pool, const Board& board) {
  const MemoryConfig input = pool.input->memory.value_or(MemoryConfig{});
  const std::int64_t pixels = pool.window.pixels();
  const std::int64_t tile_height = pool.layout == Layout::kTile ? 32 : 1;
  MemoryConfig out;
  if (input.sharded()) {
    OPWRIGHT_REQUIRE(!pool.scheme, "A sharding scheme should not be specified for a sharded input tensor.");
    OPWRIGHT_REQUIRE(input.shard && input.shard->shape.size() == 2,
                     "MemoryConfig must have Shard Spec specified for sharded memory layout");
    OPWRIGHT_REQUIRE(input.shard->orientation.value != Orientation::kColMajor,
                     "Only row major orientation is supported.");
    OPWRIGHT_REQUIRE(input.buffer.value != BufferType::kDram,
                     "Only L1 buffers can have an associated circular buffer!");
    const Spread same{input.layout.value, input.shard->grid, Orientation::kRowMajor};
    out = pool_memory(same, pixels, pool.channels, tile_height);
  } else if (pool.scheme) {
    OPWRIGHT_REQUIRE(*pool.scheme == MemoryLayout::kHeightSharded || *pool.scheme == MemoryLayout::kWidthSharded ||
                         *pool.scheme == MemoryLayout::kBlockSharded,
                     "Only height, width, or block sharding strategies are supported.");
    out = pool_memory(by_scheme(pool, *pool.scheme, false, board), pixels, pool.channels, tile_height);
  } else {
    const Spread best = choose(pool, board);
    // Tiles of an image whose rows they do not fill are rows of their own to it.
    const std::int64_t physical = physical_shape(*pool.input).height;
    const std::int64_t logical = pool.window.batch * pool.window.height * pool.window.width;
    OPWRIGHT_REQUIRE(best.layout != MemoryLayout::kWidthSharded || pool.input->layout.value != Layout::kTile ||
                         physical == round_up(logical, 32),
                     "Shard height {} must match physical height {} for width sharded", physical, logical);
    out = pool_memory(best, pixels, pool.channels, tile_height);
  }
  if (const MemoryConfig* wanted = call.memory("memory_config")) return *wanted;
  return out;
}

// Calls visit(input pixel) for every pixel of the window of an output pixel that lies in the image.
template <class F>
void for_each_under(const Window& w, std::int64_t pixel, F&& visit) {
  const std::int64_t column = pixel % w.out_width;
  const std::int64_t row = pixel / w.out_width % w.out_height;
  const std::int64_t image = pixel / w.out_width / w.out_height;
  for (std::int64_t i = 0; i < w.kernel_h; ++i) {
    const std::int64_t y = row * w.stride_h + i * w.dilation_h - w.top;
    if (y < 0 || y >= w.height) continue;
    for (std::int64_t j = 0; j < w.kernel_w; ++j) {
      const std::int64_t x = column * w.stride_w + j * w.dilation_w - w.left;
      if (x >= 0 && x < w.width) visit((image * w.height + y) * w.width + x);
    }
  }
}

// All of it under one window, and nothing beside it.
bool whole_image(const PoolCall& pool) {
  const Window& w = pool.window;
  return w.kernel_h == w.height && w.kernel_w == w.width && w.top + w.bottom + w.left + w.right == 0 &&
         !(pool.input->memory && pool.input->memory->sharded());
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board, bool means) {
  OPWRIGHT_CHECK_ASSIGN(const PoolCall pool, pool_call(call));
  OPWRIGHT_CHECK(check_pool(pool));
  OPWRIGHT_CHECK(call.flag("count_include_pad", true));
  OPWRIGHT_CHECK_ASSIGN(const auto divisor, call.integer("divisor_override"));
  OPWRIGHT_REQUIRE(!divisor || *divisor > 0, "divisor_override must be positive, got {}", divisor.value_or(0));
  OPWRIGHT_CHECK_ASSIGN(const bool indices, call.flag("return_indices", false));
  if (indices) return unsupported("return_indices", "positions of the largest values");
  OPWRIGHT_CHECK_ASSIGN(const Slicing slicing, slicing_of(call, "dram_slice_config"));
  if (slicing == Slicing::kCallers) return unsupported("dram_slice_config", "pooling in slices");
  const bool one_window = means && whole_image(pool);
  const bool sliced = !one_window && in_slices(pool, board);
  MemoryConfig memory;
  memory.layout.value = MemoryLayout::kInterleaved;
  memory.buffer.value = BufferType::kDram;
  if (one_window) {
    const MemoryConfig* wanted = call.memory("memory_config");
    memory = wanted != nullptr ? *wanted : pool.input->memory.value_or(memory);
  } else if (!sliced) {
    OPWRIGHT_CHECK_ASSIGN(memory, output_memory(call, pool, board));
  } else if (const MemoryConfig* wanted = call.memory("memory_config")) {
    memory = *wanted;
  }
  const Window& w = pool.window;
  TensorSpec out;
  out.shape =
      sliced ? Shape{w.batch, w.out_height, w.out_width, pool.channels} : Shape{1, 1, w.pixels(), pool.channels};
  out.has_shape = true;
  out.dtype.value = pool.dtype;
  out.layout.value = pool.layout;
  out.storage.value = StorageType::kDevice;
  out.memory = std::move(memory);
  OPWRIGHT_CHECK(check_tensor(out, board));
  return std::vector{output_spec(std::move(out))};
}

}  // namespace

Checked<std::vector<OutputSpec>> infer_pool(const BoundCall& call, const Board& board) {
  return infer(call, board, false);
}

Checked<std::vector<OutputSpec>> infer_avg_pool(const BoundCall& call, const Board& board) {
  return infer(call, board, true);
}

Checked<Exact> max_pool_reference(const ReferenceJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const PoolCall pool, pool_call(job.call));
  const HostTensor* input = job.input("input_tensor");
  if (input == nullptr) return refuse("pooling needs an image");
  Exact exact;
  exact.value.assign(static_cast<std::size_t>(job.rows.count() * job.rows.length), -INFINITY);
  for (std::int64_t r = 0; r < job.rows.count(); ++r) {
    double* out = exact.value.data() + r * job.rows.length;
    for_each_under(pool.window, job.rows.at(r), [&](std::int64_t pixel) {
      for (std::int64_t c = 0; c < job.rows.length; ++c)
        out[c] = std::max(out[c], input->at(pixel * pool.channels + c));
    });
  }
  return exact;
}

namespace {

// Pixels of a window that the mean counts: those of the image and of its padding. What hangs over both, as the last
// window of ceil_mode does, is nowhere.
std::int64_t counted(const Window& w, std::int64_t pixel) {
  const std::int64_t y = pixel / w.out_width % w.out_height * w.stride_h;  // from the padding's edge
  const std::int64_t x = pixel % w.out_width * w.stride_w;
  const std::int64_t down = std::min(y + w.kernel_h, w.top + w.height + w.bottom) - y;
  const std::int64_t across = std::min(x + w.kernel_w, w.left + w.width + w.right) - x;
  return down * across;
}

}  // namespace

Checked<Exact> avg_pool_reference(const ReferenceJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const PoolCall pool, pool_call(job.call));
  OPWRIGHT_CHECK_ASSIGN(const bool with_padding, job.call.flag("count_include_pad", true));
  OPWRIGHT_CHECK_ASSIGN(const auto divisor, job.call.integer("divisor_override"));
  const HostTensor* input = job.input("input_tensor");
  if (input == nullptr) return refuse("pooling needs an image");
  Exact exact;
  exact.value.assign(static_cast<std::size_t>(job.rows.count() * job.rows.length), 0.0);
  exact.magnitude = exact.value;
  for (std::int64_t r = 0; r < job.rows.count(); ++r) {
    double* out = exact.value.data() + r * job.rows.length;
    double* size = exact.magnitude.data() + r * job.rows.length;
    std::int64_t seen = 0;
    for_each_under(pool.window, job.rows.at(r), [&](std::int64_t pixel) {
      ++seen;
      for (std::int64_t c = 0; c < job.rows.length; ++c) {
        const double x = input->at(pixel * pool.channels + c);
        out[c] += x;
        size[c] += std::fabs(x);
      }
    });
    const std::int64_t all = with_padding ? counted(pool.window, job.rows.at(r)) : seen;
    const auto count = static_cast<double>(divisor ? *divisor : std::max<std::int64_t>(1, all));
    for (std::int64_t c = 0; c < job.rows.length; ++c) {
      out[c] /= count;
      size[c] /= count;
    }
  }
  return exact;
}

}  // namespace opwright
