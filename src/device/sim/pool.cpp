#include "device/sim/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "device/sim/pack.h"
#include "device/sim/parallel.h"
#include "device/sim/unpack.h"
#include "model/conv_call.h"

namespace opwright::sim {

Checked<void> admit_pool(const BoundCall& call, std::span<const OutputSpec> outputs, const Board&) {
  const TensorSpec* input = call.tensor("input_tensor");
  OPWRIGHT_CHECK_ASSIGN(const Window w, window_of(call, "input_h", "input_w"));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t channels, call.integer("channels", 0));
  if (input == nullptr || input->shape.empty() || input->shape.back() != channels ||
      volume(input->shape) < w.batch * w.height * w.width * channels)
    return unsupported("input_tensor", "a tensor that does not hold the image");
  if (!outputs.empty() && is_integer(outputs[0].spec.dtype.value))
    return unsupported("dtype", fmt::format("pooling into {}", name_of(outputs[0].spec.dtype.value)));
  return {};
}

Checked<std::vector<HostTensor>> run_max_pool(const KernelJob& job) {
  OPWRIGHT_CHECK(admit_pool(job.call, job.outputs, job.board));
  OPWRIGHT_CHECK_ASSIGN(const bool ceil_mode, job.call.flag("ceil_mode", false));
  OPWRIGHT_CHECK_ASSIGN(const Window w, window_of(job.call, "input_h", "input_w", ceil_mode));
  const HostTensor* input = job.input("input_tensor");
  if (input == nullptr || job.outputs.empty()) return refuse("pooling needs an image");
  HostTensor out{job.outputs[0].spec, {}, {}};
  const std::int64_t channels = out.spec.shape.back();
  const std::int64_t per_image = w.out_height * w.out_width;
  out.floats.assign(static_cast<std::size_t>(w.pixels() * channels), -std::numeric_limits<float>::infinity());
  parallel_for(0, w.pixels(), 64, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t pixel = first; pixel < last; ++pixel) {
      float* to = out.floats.data() + pixel * channels;
      for (std::int64_t tap = 0; tap < w.kernel_h * w.kernel_w; ++tap) {
        const std::int64_t y = pixel % per_image / w.out_width * w.stride_h - w.top + tap / w.kernel_w * w.dilation_h;
        const std::int64_t x = pixel % w.out_width * w.stride_w - w.left + tap % w.kernel_w * w.dilation_w;
        if (y < 0 || y >= w.height || x < 0 || x >= w.width) continue;
        const float* from = input->floats.data() + ((pixel / per_image * w.height + y) * w.width + x) * channels;
        for (std::int64_t c = 0; c < channels; ++c) to[c] = std::max(to[c], flush_denormal(from[c]));
      }
      pack({to, static_cast<std::size_t>(channels)}, channels, out.spec.dtype.value, Dst::kBf16);
    }
  });
  return std::vector{std::move(out)};
}

}  // namespace opwright::sim
