// Images made larger, and folded: a row each.
#include <algorithm>
#include <array>

#include "base/parallel.h"
#include "device/sim/kernels/families.h"
#include "device/sim/movement.h"
#include "device/sim/pack.h"

namespace opwright::sim {
namespace {

using Made = Checked<std::vector<HostTensor>>;

// A result twice as large has each row twice: the window walks over (row, copy, column, copy, channel).
Made nearest(const HostTensor& input, const OutputSpec& output, std::int64_t rows, std::int64_t columns) {
  HostTensor out = unwritten(output);
  const Shape& from = input.spec.shape;
  const Shape step = row_major_strides(from), to = row_major_strides(out.spec.shape);
  copy_window(input,
              {.shape = {from[0], from[1], rows, from[2], columns, from[3]},
               .from_strides = {step[0], step[1], 0, step[2], 0, 1},
               .to_strides = {to[0], rows * to[1], to[1], columns * to[2], to[2], 1}},
              out);
  return std::vector{std::move(out)};
}

// Source place of a result's row or column in halves of a scaled pixel, with its two weights in bfloat16.
struct Weighted {
  std::int64_t low = 0, high = 0;
  float low_weight = 1, high_weight = 0;
};
Weighted weigh(std::int64_t at, std::int64_t scale, std::int64_t size) {
  const std::int64_t halves = std::max<std::int64_t>(2 * at + 1 - scale, 0);  // of 2 x scale
  const std::int64_t low = std::min(halves / (2 * scale), size - 1);
  const float part = static_cast<float>(halves - low * 2 * scale) / static_cast<float>(2 * scale);
  const float second = round_to_dst(part, Dst::kBf16);
  return {low, std::min(low + 1, size - 1), 1.0F - second, second};
}

Made bilinear(const HostTensor& input, const OutputSpec& output, std::int64_t rows, std::int64_t columns) {
  HostTensor out = unwritten(output);
  const Shape& from = input.spec.shape;
  const Shape& to = out.spec.shape;
  const std::int64_t channels = from[3];
  parallel_for(0, to[0] * to[1], 4, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t line = first; line < last; ++line) {
      const Weighted y = weigh(line % to[1], rows, from[1]);
      const float* const image = input.floats.data() + line / to[1] * from[1] * from[2] * channels;
      for (std::int64_t column = 0; column < to[2]; ++column) {
        const Weighted x = weigh(column, columns, from[2]);
        const auto pixel = [&](std::int64_t r, std::int64_t c) { return image + (r * from[2] + c) * channels; };
        const float *a = pixel(y.low, x.low), *b = pixel(y.low, x.high), *c = pixel(y.high, x.low),
                    *d = pixel(y.high, x.high);
        float* const target = out.floats.data() + (line * to[2] + column) * channels;
        for (std::int64_t i = 0; i < channels; ++i)
          target[i] = y.low_weight * (x.low_weight * a[i] + x.high_weight * b[i]) +
                      y.high_weight * (x.low_weight * c[i] + x.high_weight * d[i]);
      }
    }
  });
  pack(out.floats, channels, out.spec.dtype.value, Dst::kFp32);
  return std::vector{std::move(out)};
}

Made upsample(const KernelJob& job) {
  const HostTensor& input = job.inputs[0];
  const Shape& from = input.spec.shape;
  const Shape& to = job.outputs[0].spec.shape;
  OPWRIGHT_CHECK_ASSIGN(const std::string mode, job.call.text("mode", "nearest"));
  const std::int64_t rows = to[1] / std::max<std::int64_t>(from[1], 1),
                     columns = to[2] / std::max<std::int64_t>(from[2], 1);
  return mode == "bilinear" ? bilinear(input, job.outputs[0], rows, columns)
                            : nearest(input, job.outputs[0], rows, columns);
}

Made fold(const KernelJob& job) {
  const HostTensor& input = job.inputs[0];
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t rows, job.call.integer("stride_h", 1));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t columns, job.call.integer("stride_w", 1));
  HostTensor out = unwritten(job.outputs[0]);
  const Shape& from = input.spec.shape;
  const std::int64_t line = columns * from[3], width = rows * line;
  const std::int64_t down = from[1] / rows, across = from[2] / columns;
  copy_window(input,
              {.shape = {from[0], down, rows, across, line},
               .from_strides = {from[1] * from[2] * from[3], rows * from[2] * from[3], from[2] * from[3], line, 1},
               .to_strides = {down * across * width, across * width, line, width, 1}},
              out);
  repack(out);
  return std::vector{std::move(out)};
}

}  // namespace

std::span<const Kernel> scaling_kernels() {
  static constexpr std::array kRows{
      Kernel{.op = "ttnn.fold", .run = fold},
      Kernel{.op = "ttnn.upsample", .run = upsample},
  };
  return kRows;
}

}  // namespace opwright::sim
