#include "device/sim/conv.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.h"
#include "device/sim/conv_weights.h"
#include "device/sim/gemm.h"
#include "device/sim/matmul.h"
#include "device/sim/window.h"
#include "dialect/ttnn/conv_config.h"
#include "dialect/ttnn/conv_shards.h"

namespace opwright::sim {
namespace {

// A call as the kernel reads it.
struct Conv {
  Windows windows;
  ConvSizes sizes;
  ConvConfig config;
  const TensorSpec* input = nullptr;
  std::int64_t pixel_stride = 0;  // elements from one pixel of the image to the next
  DType weight_dtype = DType::kBfloat16;

  bool depthwise() const { return sizes.groups > 1 && sizes.in == sizes.groups && sizes.out == sizes.groups; }
  // Every output pixel is made of the one below it.
  bool pointwise() const {
    const auto plain = [](const Axis& axis) {
      return axis.taps == 1 && axis.stride == 1 && axis.before == 0 && axis.after == 0;
    };
    return plain(windows.rows) && plain(windows.columns) && config.shard_layout != MemoryLayout::kWidthSharded;
  }
};

Checked<Conv> read_conv(const BoundCall& call) {
  Conv conv;
  conv.input = call.tensor("input_tensor");
  const TensorSpec* weight = call.tensor("weight_tensor");
  if (conv.input == nullptr || weight == nullptr) return refuse("a convolution needs an image and weights");
  OPWRIGHT_CHECK_ASSIGN(conv.windows, windows_of(call, "input_height", "input_width"));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t in, call.integer("in_channels", 0));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t out, call.integer("out_channels", 0));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t groups, call.integer("groups", 1));
  if (in < 1 || out < 1 || groups < 1 || groups > in) return unsupported("groups", "channels and groups like these");
  conv.sizes = conv_sizes(conv.windows.rows.taps, conv.windows.columns.taps, in, out, groups, *weight);
  OPWRIGHT_CHECK_ASSIGN(conv.config, conv_config(call));
  conv.weight_dtype =
      conv.sizes.laid_out ? weight->dtype.value : conv.config.weight_dtype.value_or(weight->dtype.value);
  // A tensor may have more channels than the call names: they were added behind each pixel, and only then does its
  // size say so.
  const Windows& w = conv.windows;
  const std::int64_t pixels = w.images * w.rows.size * w.columns.size;
  const std::int64_t wide = row_length(conv.input->shape);
  const bool padded = call.convention == Convention::kCpp && wide > in && volume(conv.input->shape) == pixels * wide;
  conv.pixel_stride = padded ? wide : in;
  return conv;
}

Spread spread_of(const Conv& conv, DType dtype, const Board& board) {
  const Windows& w = conv.windows;
  const ConvShape shape{.input = conv.input,
                        .image_pixels = w.images * w.rows.size * w.columns.size,
                        .pixels = w.pixels(),
                        .kernel_h = w.rows.taps,
                        .kernel_w = w.columns.taps,
                        .in_channels = conv.sizes.in,
                        .out_channels = conv.sizes.out,
                        .pointwise = conv.pointwise(),
                        .depthwise = conv.depthwise(),
                        .weight_dtype = conv.weight_dtype,
                        .config = conv.config};
  return conv_spread(shape, dtype, board).value_or(Spread{});
}

// The order in which the engine walks the inner dimension: rows of the window, in each the channels of one core after
// those of another, padded to whole tiles.
struct InnerOrder {
  std::int64_t shards = 1;
  std::int64_t channels = 0;  // of one shard, padded
  std::int64_t segment = 0;   // elements of one row of the window of one shard, padded
  std::int64_t depth = 0;     // of everything
  std::int64_t block = 0;     // tiles between two spills
  bool shards_first = false;  // all rows of the window of one shard before the next shard
};

InnerOrder inner_order(const Conv& conv, std::int64_t channels, DType dtype, const Board& board) {
  const Windows& w = conv.windows;
  const MemoryConfig input = conv.input->memory.value_or(MemoryConfig{});
  const bool in_l1 = input.buffer.value == BufferType::kL1;
  const bool whole_tiles = (conv.input->layout.value == Layout::kTile && in_l1) || conv.pointwise() || conv.depthwise();
  const Spread spread = spread_of(conv, dtype, board);
  InnerOrder order;
  order.shards = std::clamp<std::int64_t>(spread.channel_cores(), 1, channels);
  order.channels = round_up(div_up(channels, order.shards), whole_tiles ? 32 : 8);
  order.shards = div_up(channels, order.channels);
  order.segment = round_up(order.channels * w.columns.taps, 32);
  order.depth = order.shards * w.rows.taps * order.segment;
  order.block = order.segment / 32;
  if (spread.layout == MemoryLayout::kWidthSharded) {
    order.shards_first = true;
    order.block *= w.rows.taps;
  }
  // A product of operands that are not sharded is cut as any matmul is.
  if (conv.pointwise() && !input.sharded() && !conv.config.shard_layout) {
    const std::int64_t tiles = order.depth / 32;
    order.block = tiles % board.grid.x == 0 ? tiles / board.grid.x : 1;
  }
  return order;
}

// Index in the inner dimension of channel `channel` under `tap`.
std::int64_t inner_index(const InnerOrder& order, const Windows& w, std::int64_t tap, std::int64_t channel) {
  const std::int64_t shard = channel / order.channels;
  const std::int64_t row = tap / w.columns.taps;
  const std::int64_t segment = order.shards_first ? shard * w.rows.taps + row : row * order.shards + shard;
  return segment * order.segment + tap % w.columns.taps * order.channels + channel % order.channels;
}

// The patch under one output pixel, `channels` channels from `first` on.
void patch(const Conv& conv, const InnerOrder& order, const float* image, std::int64_t pixel, std::int64_t first,
           std::int64_t channels, float* out) {
  std::fill_n(out, order.depth, 0.0F);
  for_each_tap(conv.windows, pixel, [&](std::int64_t tap, std::int64_t under) {
    const float* source = image + under * conv.pixel_stride + first;
    for (std::int64_t c = 0; c < channels; c += order.channels)
      std::copy_n(source + c, std::min(order.channels, channels - c), out + inner_index(order, conv.windows, tap, c));
  });
}

// Products of a depthwise convolution are added one by one: each tap alone in its step of the engine.
InnerOrder one_by_one(const Windows& w) {
  InnerOrder order;
  order.channels = 16;
  order.segment = round_up(16 * w.columns.taps, 32);
  order.depth = w.rows.taps * order.segment;
  order.block = order.segment / 32;
  return order;
}

}  // namespace

Checked<void> admit_conv(const BoundCall& call, std::span<const OutputSpec> outputs, const Board&) {
  for (const char* param : {"input_tensor", "weight_tensor", "bias_tensor"})
    if (const TensorSpec* spec = call.tensor(param); spec != nullptr && is_integer(spec->dtype.value))
      return unsupported(param, fmt::format("a convolution of {}", name_of(spec->dtype.value)));
  if (!outputs.empty() && is_integer(outputs[0].spec.dtype.value))
    return unsupported("dtype", fmt::format("a convolution written as {}", name_of(outputs[0].spec.dtype.value)));
  OPWRIGHT_CHECK_ASSIGN(const Conv conv, read_conv(call));
  OPWRIGHT_CHECK(fused_functions(&conv.config.activation, "conv_config"));
  return {};
}

Checked<std::vector<HostTensor>> run_conv(const KernelJob& job) {
  OPWRIGHT_CHECK(admit_conv(job.call, job.outputs, job.board));
  OPWRIGHT_CHECK_ASSIGN(const Conv conv, read_conv(job.call));
  OPWRIGHT_CHECK_ASSIGN(const auto functions, fused_functions(&conv.config.activation, "conv_config"));
  const HostTensor* input = job.input("input_tensor");
  const HostTensor* weight = job.input("weight_tensor");
  if (input == nullptr || weight == nullptr || job.outputs.empty())
    return refuse("a convolution needs an image and weights");
  const ConvWeights weights = conv_weights(conv.sizes, *weight, job.input("bias_tensor"), conv.weight_dtype);
  const ComputeConfig config = conv_compute(job.call, conv.weight_dtype);
  const Windows& w = conv.windows;
  const std::int64_t taps = w.taps();
  const std::int64_t out_channels = conv.sizes.out;
  const std::int64_t pixels = w.pixels();
  HostTensor out{job.outputs[0].spec, {}, {}};
  out.floats.assign(static_cast<std::size_t>(pixels * out_channels), 0.0F);
  const InnerOrder order = weights.in == 1 && weights.groups > 1
                               ? one_by_one(w)
                               : inner_order(conv, weights.in, out.spec.dtype.value, job.board);
  // Pixels are rows of the output, and each is computed from its own patch alone.
  const std::vector<std::int64_t> picked = job.rows.empty() ? std::vector<std::int64_t>() : job.rows[0];
  const std::int64_t computed = picked.empty() ? pixels : static_cast<std::int64_t>(picked.size());
  const auto pixel = [&](std::int64_t i) { return picked.empty() ? i : picked[static_cast<std::size_t>(i)]; };
  // Patches of so many pixels at a time that they stay small.
  const std::int64_t rows =
      std::clamp<std::int64_t>((std::int64_t{1} << 24) / order.depth, 32, std::max<std::int64_t>(32, computed));
  std::vector<float> sums(picked.empty() ? 0 : static_cast<std::size_t>(rows * weights.out));
  std::vector<float> patches(static_cast<std::size_t>(rows * order.depth));
  std::vector<float> matrix(static_cast<std::size_t>(order.depth * weights.out));
  for (std::int64_t group = 0; group < weights.groups; ++group) {
    std::ranges::fill(matrix, 0.0F);
    for (std::int64_t tap = 0; tap < taps; ++tap)
      for (std::int64_t c = 0; c < weights.in; ++c)
        std::copy_n(weights.matrix.data() + weights.row(group, tap, c, taps), weights.out,
                    matrix.data() + inner_index(order, w, tap, c) * weights.out);
    for (std::int64_t first = 0; first < computed; first += rows) {
      const std::int64_t count = std::min(rows, computed - first);
      parallel_for(0, count, 16, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
          patch(conv, order, input->floats.data(), pixel(first + i), group * weights.in, weights.in,
                patches.data() + i * order.depth);
      });
      gemm({.m = count,
            .n = weights.out,
            .k = order.depth,
            .a = patches.data(),
            .lda = order.depth,
            .b = matrix.data(),
            .ldb = weights.out,
            .c = picked.empty() ? out.floats.data() + first * out_channels + group * weights.out : sums.data(),
            .ldc = picked.empty() ? out_channels : weights.out,
            .config = config,
            .a_dtype = input->spec.dtype.value,
            .b_dtype = conv.weight_dtype,
            .out_dtype = out.spec.dtype.value,
            .in0_block_w = order.block,
            .bias = weights.bias.empty() ? nullptr : weights.bias.data() + group * weights.out,
            .bias_dtype = conv.weight_dtype});
      for (std::int64_t i = 0; !picked.empty() && i < count; ++i)
        std::copy_n(sums.data() + i * weights.out, weights.out,
                    out.floats.data() + pixel(first + i) * out_channels + group * weights.out);
    }
  }
  finish_rows(out.floats, out_channels, functions, dst_of(config.fp32_acc), out.spec.dtype.value);
  std::vector<HostTensor> all{std::move(out)};
  // Prepared weights and bias, of which nobody looks at the numbers.
  for (const OutputSpec& output : job.outputs.subspan(1)) all.push_back(unwritten(output));
  return all;
}

}  // namespace opwright::sim
