// A convolution as the arguments of ttnn.conv2d describe it: geometry, weights in either of their forms, configuration.
// For rules and reference; the kernel reads the call itself.
#pragma once

#include <cstdint>

#include "dialect/ttnn/conv_config.h"
#include "dialect/ttnn/conv_shards.h"
#include "model/bound_call.h"
#include "model/refusal.h"
#include "ops/shared/window.h"

namespace opwright {

struct ConvCall {
  Window window;
  std::int64_t in_channels = 0;
  std::int64_t pixel_stride = 0;  // channels that the input tensor has: in_channels, or more where it was padded
  std::int64_t out_channels = 0;
  std::int64_t groups = 1;
  const TensorSpec* input = nullptr;
  const TensorSpec* weight = nullptr;
  const TensorSpec* bias = nullptr;
  // Weights that the library has laid out already: a matrix of kernel_h x kernel_w x channels rows, out_channels
  // columns.
  bool prepared = false;
  std::int64_t weight_channels = 0;       // input channels that the weights have for one output channel
  DType weight_dtype = DType::kBfloat16;  // that the device gets
  ConvConfig config;

  bool depthwise() const { return groups > 1 && groups == in_channels && groups == out_channels; }
  // One pixel in, one pixel out: a matmul.
  bool pointwise() const;
};

Checked<ConvCall> conv_call(const BoundCall& call);
// The same call as the library sees it when it decides on which cores the image lies.
ConvShape shape_of(const ConvCall& conv);

}  // namespace opwright
