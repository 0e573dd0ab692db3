#include "device/sim/conv.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.h"
#include "device/sim/gemm.h"
#include "device/sim/matmul.h"
#include "model/conv_call.h"
#include "model/conv_shards.h"

namespace opwright::sim {
namespace {

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

InnerOrder inner_order(const ConvCall& conv, std::int64_t channels, DType dtype, const Board& board) {
  const Window& w = conv.window;
  const MemoryConfig input = conv.input->memory.value_or(MemoryConfig{});
  const bool in_l1 = input.buffer.value == BufferType::kL1;
  const bool whole_tiles = (conv.input->layout.value == Layout::kTile && in_l1) || conv.pointwise() || conv.depthwise();
  const Spread spread = conv_spread(conv, dtype, board).value_or(Spread{});
  InnerOrder order;
  order.shards = std::clamp<std::int64_t>(spread.channel_cores(), 1, channels);
  order.channels = round_up(div_up(channels, order.shards), whole_tiles ? 32 : 8);
  order.shards = div_up(channels, order.channels);
  order.segment = round_up(order.channels * w.kernel_w, 32);
  order.depth = order.shards * w.kernel_h * order.segment;
  order.block = order.segment / 32;
  if (spread.layout == MemoryLayout::kWidthSharded) {
    order.shards_first = true;
    order.block *= w.kernel_h;
  }
  // A product of operands that are not sharded is cut as any matmul is.
  if (conv.pointwise() && !input.sharded() && !conv.shard_layout) {
    const std::int64_t tiles = order.depth / 32;
    order.block = tiles % board.grid.x == 0 ? tiles / board.grid.x : 1;
  }
  return order;
}

// Index in the inner dimension of channel `channel` under `tap`.
std::int64_t inner_index(const InnerOrder& order, const Window& w, std::int64_t tap, std::int64_t channel) {
  const std::int64_t shard = channel / order.channels;
  const std::int64_t row = tap / w.kernel_w;
  const std::int64_t segment = order.shards_first ? shard * w.kernel_h + row : row * order.shards + shard;
  return segment * order.segment + tap % w.kernel_w * order.channels + channel % order.channels;
}

// The patch under one output pixel, `channels` channels from `first` on.
void patch(const ConvCall& conv, const InnerOrder& order, const float* image, std::int64_t pixel, std::int64_t first,
           std::int64_t channels, float* out) {
  const Window& w = conv.window;
  const std::int64_t per_image = w.out_height * w.out_width;
  const std::int64_t y0 = pixel % per_image / w.out_width * w.stride_h - w.top;
  const std::int64_t x0 = pixel % w.out_width * w.stride_w - w.left;
  std::fill_n(out, order.depth, 0.0F);
  for (std::int64_t tap = 0; tap < w.kernel_h * w.kernel_w; ++tap) {
    const std::int64_t y = y0 + tap / w.kernel_w * w.dilation_h;
    const std::int64_t x = x0 + tap % w.kernel_w * w.dilation_w;
    if (y < 0 || y >= w.height || x < 0 || x >= w.width) continue;
    const float* source = image + ((pixel / per_image * w.height + y) * w.width + x) * conv.pixel_stride + first;
    for (std::int64_t c = 0; c < channels; c += order.channels)
      std::copy_n(source + c, std::min(order.channels, channels - c), out + inner_index(order, w, tap, c));
  }
}

// Products of a depthwise convolution are added one by one: each tap alone in its step of the engine.
InnerOrder one_by_one(const Window& w) {
  InnerOrder order;
  order.channels = 16;
  order.segment = round_up(16 * w.kernel_w, 32);
  order.depth = w.kernel_h * order.segment;
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
  OPWRIGHT_CHECK_ASSIGN(const ConvCall conv, conv_call(call));
  OPWRIGHT_CHECK(fused_functions(&conv.activation, "conv_config"));
  return {};
}

Checked<std::vector<HostTensor>> run_conv(const KernelJob& job) {
  OPWRIGHT_CHECK(admit_conv(job.call, job.outputs, job.board));
  OPWRIGHT_CHECK_ASSIGN(const ConvCall conv, conv_call(job.call));
  OPWRIGHT_CHECK_ASSIGN(const auto functions, fused_functions(&conv.activation, "conv_config"));
  const HostTensor* input = job.input("input_tensor");
  const HostTensor* weight = job.input("weight_tensor");
  if (input == nullptr || weight == nullptr || job.outputs.empty())
    return refuse("a convolution needs an image and weights");
  const ConvWeights weights = conv_weights(conv, *weight, job.input("bias_tensor"));
  const ComputeConfig config = conv_compute(job.call, conv);
  const Window& w = conv.window;
  const std::int64_t taps = w.kernel_h * w.kernel_w;
  const std::int64_t pixels = w.pixels();
  HostTensor out{job.outputs[0].spec, {}, {}};
  out.floats.assign(static_cast<std::size_t>(pixels * conv.out_channels), 0.0F);
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
            .c = picked.empty() ? out.floats.data() + first * conv.out_channels + group * weights.out : sums.data(),
            .ldc = picked.empty() ? conv.out_channels : weights.out,
            .config = config,
            .a_dtype = input->spec.dtype.value,
            .b_dtype = conv.weight_dtype,
            .out_dtype = out.spec.dtype.value,
            .in0_block_w = order.block,
            .bias = weights.bias.empty() ? nullptr : weights.bias.data() + group * weights.out,
            .bias_dtype = conv.weight_dtype});
      for (std::int64_t i = 0; !picked.empty() && i < count; ++i)
        std::copy_n(sums.data() + i * weights.out, weights.out,
                    out.floats.data() + pixel(first + i) * conv.out_channels + group * weights.out);
    }
  }
  finish_rows(out.floats, conv.out_channels, functions, dst_of(config.fp32_acc), out.spec.dtype.value);
  return std::vector{std::move(out)};
}

}  // namespace opwright::sim
