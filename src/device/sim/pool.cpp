#include "device/sim/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/parallel.h"
#include "device/sim/pack.h"
#include "device/sim/unpack.h"
#include "device/sim/window.h"

namespace opwright::sim {

Checked<void> admit_pool(const BoundCall& call, std::span<const OutputSpec> outputs, const Board&) {
  const TensorSpec* input = call.tensor("input_tensor");
  OPWRIGHT_CHECK_ASSIGN(const Windows w, windows_of(call, "input_h", "input_w"));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t channels, call.integer("channels", 0));
  if (input == nullptr || input->shape.empty() || input->shape.back() != channels ||
      volume(input->shape) < w.images * w.rows.size * w.columns.size * channels)
    return unsupported("input_tensor", "a tensor that does not hold the image");
  if (!outputs.empty() && is_integer(outputs[0].spec.dtype.value))
    return unsupported("dtype", fmt::format("pooling into {}", name_of(outputs[0].spec.dtype.value)));
  return {};
}

Checked<std::vector<HostTensor>> run_max_pool(const KernelJob& job) {
  OPWRIGHT_CHECK(admit_pool(job.call, job.outputs, job.board));
  OPWRIGHT_CHECK_ASSIGN(const bool ceil_mode, job.call.flag("ceil_mode", false));
  OPWRIGHT_CHECK_ASSIGN(const Windows w, windows_of(job.call, "input_h", "input_w", ceil_mode));
  const HostTensor* input = job.input("input_tensor");
  if (input == nullptr || job.outputs.empty()) return refuse("pooling needs an image");
  HostTensor out{job.outputs[0].spec, {}, {}};
  const std::int64_t channels = out.spec.shape.back();
  out.floats.assign(static_cast<std::size_t>(w.pixels() * channels), -std::numeric_limits<float>::infinity());
  parallel_for(0, w.pixels(), 64, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t pixel = first; pixel < last; ++pixel) {
      float* to = out.floats.data() + pixel * channels;
      for_each_tap(w, pixel, [&](std::int64_t, std::int64_t under) {
        const float* from = input->floats.data() + under * channels;
        for (std::int64_t c = 0; c < channels; ++c) to[c] = std::max(to[c], flush_denormal(from[c]));
      });
      pack({to, static_cast<std::size_t>(channels)}, channels, out.spec.dtype.value, Dst::kBf16);
    }
  });
  return std::vector{std::move(out)};
}

namespace {

// Taps of a window that fall on the image or its padding, axis by axis; a window of ceil_mode may end beyond both.
std::int64_t taps_with_padding(const Windows& w, std::int64_t pixel) {
  const auto within = [](const Axis& axis, std::int64_t window) {
    const std::int64_t left = axis.before + axis.size + axis.after - window * axis.stride;
    return std::min(axis.taps, (left + axis.dilation - 1) / axis.dilation);
  };
  const std::int64_t line = pixel / w.columns.windows;
  return within(w.rows, line % w.rows.windows) * within(w.columns, pixel - line * w.columns.windows);
}

}  // namespace

Checked<std::vector<HostTensor>> run_avg_pool(const KernelJob& job) {
  OPWRIGHT_CHECK(admit_pool(job.call, job.outputs, job.board));
  OPWRIGHT_CHECK_ASSIGN(const bool ceil_mode, job.call.flag("ceil_mode", false));
  OPWRIGHT_CHECK_ASSIGN(const bool with_padding, job.call.flag("count_include_pad", true));
  OPWRIGHT_CHECK_ASSIGN(const auto divisor, job.call.integer("divisor_override"));
  OPWRIGHT_CHECK_ASSIGN(const Windows w, windows_of(job.call, "input_h", "input_w", ceil_mode));
  const HostTensor* input = job.input("input_tensor");
  if (input == nullptr || job.outputs.empty()) return refuse("pooling needs an image");
  HostTensor out{job.outputs[0].spec, {}, {}};
  const std::int64_t channels = out.spec.shape.back();
  out.floats.assign(static_cast<std::size_t>(w.pixels() * channels), 0.0F);
  parallel_for(0, w.pixels(), 64, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t pixel = first; pixel < last; ++pixel) {
      const std::span<float> to(out.floats.data() + pixel * channels, static_cast<std::size_t>(channels));
      std::int64_t count = 0;
      for_each_tap(w, pixel, [&](std::int64_t, std::int64_t under) {
        const float* from = input->floats.data() + under * channels;
        ++count;
        for (std::size_t c = 0; c < to.size(); ++c) to[c] += flush_denormal(from[c]);
      });
      if (with_padding) count = taps_with_padding(w, pixel);
      // The engine multiplies by the inverse, a bfloat16.
      const float inverse =
          round_to_dst(1.0F / static_cast<float>(std::max<std::int64_t>(1, divisor.value_or(count))), Dst::kBf16);
      for (float& value : to) value *= inverse;
      round_to_dst(to, Dst::kBf16);
      pack(to, channels, out.spec.dtype.value, Dst::kBf16);
    }
  });
  return std::vector{std::move(out)};
}

}  // namespace opwright::sim
