#include <algorithm>
#include <cmath>

#include "model/conv_call.h"
#include "ops/shared/activation.h"
#include "ops/shared/conv_rules.h"
#include "ops/shared/matmul_exact.h"

namespace opwright {
namespace {

// Where the window of an output pixel begins in the input; may lie outside.
struct Corner {
  std::int64_t image = 0;
  std::int64_t y = 0;
  std::int64_t x = 0;
};
Corner corner_of(const Window& w, std::int64_t pixel) {
  const std::int64_t per_image = w.out_height * w.out_width;
  const std::int64_t at = pixel % per_image;
  return {pixel / per_image, at / w.out_width * w.stride_h - w.top, at % w.out_width * w.stride_w - w.left};
}

// Index of the input pixel under a tap; -1 in the padding.
std::int64_t under(const Window& w, const Corner& corner, std::int64_t tap) {
  const std::int64_t y = corner.y + tap / w.kernel_w * w.dilation_h;
  const std::int64_t x = corner.x + tap % w.kernel_w * w.dilation_w;
  if (y < 0 || y >= w.height || x < 0 || x >= w.width) return -1;
  return (corner.image * w.height + y) * w.width + x;
}

void grouped(const ConvCall& conv, const ConvWeights& weights, const HostTensor& input, const Rows& rows,
             Exact& exact) {
  const Window& w = conv.window;
  const std::int64_t taps = w.kernel_h * w.kernel_w;
  for (std::int64_t r = 0; r < rows.count(); ++r) {
    const Corner corner = corner_of(w, rows.at(r));
    double* value = exact.value.data() + r * rows.length;
    double* size = exact.magnitude.data() + r * rows.length;
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      const std::int64_t pixel = under(w, corner, tap);
      if (pixel < 0) continue;
      for (std::int64_t g = 0; g < weights.groups; ++g)
        for (std::int64_t c = 0; c < weights.in; ++c) {
          const double x = input.at(pixel * conv.pixel_stride + g * weights.in + c);
          const float* row = weights.matrix.data() + weights.row(g, tap, c, taps);
          for (std::int64_t i = 0; i < weights.out; ++i) {
            const double product = x * static_cast<double>(row[i]);
            value[g * weights.out + i] += product;
            size[g * weights.out + i] += std::fabs(product);
          }
        }
    }
  }
}

}  // namespace

Checked<Exact> conv_reference(const ReferenceJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const ConvCall conv, conv_call(job.call));
  const HostTensor* input = job.input("input_tensor");
  const HostTensor* weight = job.input("weight_tensor");
  if (input == nullptr || weight == nullptr) return refuse("a convolution needs an image and weights");
  const ConvWeights weights = conv_weights(conv, *weight, job.input("bias_tensor"));
  const Window& w = conv.window;
  const std::int64_t taps = w.kernel_h * w.kernel_w;
  const Rows& rows = job.rows;
  Exact exact;
  exact.value.assign(static_cast<std::size_t>(rows.count() * rows.length), 0.0);
  exact.magnitude = exact.value;
  if (weights.groups > 1) {
    grouped(conv, weights, *input, rows, exact);
  } else {
    const ExactProduct product{
        .rows = rows.count(),
        .k = taps * weights.in,
        .n = weights.out,
        .left =
            [&](std::int64_t row, std::int64_t first, std::int64_t count, double* out) {
              const Corner corner = corner_of(w, rows.at(row));
              std::int64_t tap = -1;
              std::int64_t pixel = -1;
              for (std::int64_t i = 0; i < count; ++i) {
                const std::int64_t k = first + i;
                if (k / weights.in != tap) {
                  tap = k / weights.in;
                  pixel = under(w, corner, tap);
                }
                out[i] = pixel < 0 ? 0.0 : input->at(pixel * conv.pixel_stride + k % weights.in);
              }
            },
        .right = [&](std::int64_t row, std::int64_t first, std::int64_t count,
                     double* out) { std::copy_n(weights.matrix.data() + row * weights.out + first, count, out); },
        .value = exact.value.data(),
        .magnitude = exact.magnitude.data(),
        .stride = rows.length,
    };
    exact_product(product);
  }
  OPWRIGHT_CHECK_ASSIGN(const auto functions, exact_activations(&conv.activation, "conv_config"));
  for (std::int64_t r = 0; r < rows.count(); ++r)
    for (std::int64_t c = 0; c < rows.length; ++c) {
      const auto at = static_cast<std::size_t>(r * rows.length + c);
      if (!weights.bias.empty()) {
        const double b = weights.bias[static_cast<std::size_t>(c)];
        exact.value[at] += b;
        exact.magnitude[at] += std::fabs(b);
      }
      if (!functions.empty()) exact.value[at] = apply_all(functions, exact.value[at]);
    }
  return exact;
}

}  // namespace opwright
