#include "ops/shared/conv_call.h"

#include <fmt/format.h>

#include "model/host_tensor.h"

namespace opwright {

bool ConvCall::pointwise() const {
  return window.kernel_h == 1 && window.kernel_w == 1 && window.stride_h == 1 && window.stride_w == 1 &&
         window.top + window.bottom + window.left + window.right == 0 &&
         config.shard_layout != std::optional(MemoryLayout::kWidthSharded);
}

Checked<ConvCall> conv_call(const BoundCall& call) {
  ConvCall conv;
  conv.input = call.tensor("input_tensor");
  conv.weight = call.tensor("weight_tensor");
  conv.bias = call.tensor("bias_tensor");
  for (const auto& [param, tensor] : {std::pair{"input_tensor", conv.input}, std::pair{"weight_tensor", conv.weight}})
    if (tensor == nullptr) return type_error(call.op, param, call.find(param) == nullptr ? Value() : *call.find(param));
  OPWRIGHT_CHECK_ASSIGN(conv.window, window_of(call, "input_height", "input_width"));
  OPWRIGHT_CHECK_ASSIGN(conv.in_channels, size_argument(call, "in_channels", 1));
  conv.pixel_stride = conv.in_channels;
  OPWRIGHT_CHECK_ASSIGN(conv.out_channels, size_argument(call, "out_channels", 1));
  OPWRIGHT_CHECK_ASSIGN(conv.groups, call.integer("groups", 1));
  if (conv.groups < 1 || conv.groups > conv.in_channels)
    return refuse(fmt::format("groups must be between 1 and {} in_channels, got {}", conv.in_channels, conv.groups),
                  "groups");
  const Window& window = conv.window;
  if (!bounded({window.batch, window.height, window.width, conv.in_channels}) ||
      !bounded({window.pixels(), conv.out_channels}) ||
      !bounded({window.kernel_h, window.kernel_w, conv.in_channels, conv.out_channels}))
    return refuse(fmt::format("a convolution of {} into {} channels over {} pixels is larger than any memory",
                              conv.in_channels, conv.out_channels, window.pixels()),
                  "in_channels");
  // Models that align their channels by hand passed the number before that.
  const Shape& image = conv.input->shape;
  if (call.convention == Convention::kCpp && !image.empty() && image.back() > conv.in_channels &&
      volume(image) == window.batch * window.height * window.width * image.back())
    conv.pixel_stride = image.back();
  const std::int64_t taps = window.kernel_h * window.kernel_w;
  const Shape& w = conv.weight->shape;
  conv.prepared = w.size() == 4 && w[0] == 1 && w[1] == 1 && w[2] > 1 && w[2] % taps == 0 && w[2] / taps > 0 &&
                  !(conv.out_channels == 1 && conv.in_channels == 1) &&
                  (conv.weight->storage.value != StorageType::kHost || w[2] != window.kernel_h);
  conv.weight_channels = conv.prepared ? w[2] / taps : w.size() < 3 ? 0 : w[1];
  OPWRIGHT_CHECK_ASSIGN(conv.config, conv_config(call));
  conv.weight_dtype = conv.weight->dtype.value;
  if (!conv.prepared && conv.config.weight_dtype) conv.weight_dtype = *conv.config.weight_dtype;
  return conv;
}

ConvShape shape_of(const ConvCall& conv) {
  const Window& w = conv.window;
  return {.input = conv.input,
          .image_pixels = w.batch * w.height * w.width,
          .pixels = w.pixels(),
          .kernel_h = w.kernel_h,
          .kernel_w = w.kernel_w,
          .in_channels = conv.in_channels,
          .out_channels = conv.out_channels,
          .pointwise = conv.pointwise(),
          .depthwise = conv.depthwise(),
          .weight_dtype = conv.weight_dtype,
          .config = conv.config};
}

}  // namespace opwright
