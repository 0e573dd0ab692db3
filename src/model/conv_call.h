// A convolution as the arguments of ttnn.conv2d describe it: geometry, weights in either of their forms, configuration.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/board.h"
#include "model/bound_call.h"
#include "model/compute_config.h"
#include "model/host_tensor.h"
#include "model/refusal.h"

namespace opwright {

// Sliding windows over an image with channels last.
struct Window {
  std::int64_t batch = 1;
  std::int64_t height = 0;  // of the input
  std::int64_t width = 0;
  std::int64_t kernel_h = 1;
  std::int64_t kernel_w = 1;
  std::int64_t stride_h = 1;
  std::int64_t stride_w = 1;
  std::int64_t top = 0;  // padding
  std::int64_t bottom = 0;
  std::int64_t left = 0;
  std::int64_t right = 0;
  std::int64_t dilation_h = 1;
  std::int64_t dilation_w = 1;
  std::int64_t out_height = 0;
  std::int64_t out_width = 0;

  std::int64_t pixels() const { return batch * out_height * out_width; }
};

// Reads `batch_size`, `kernel_size`, `stride`, `padding` (2 or 4 values), `dilation` and the sizes of the image, given
// under these two names. Refuses windows that do not fit.
Checked<Window> window_of(const BoundCall& call, std::string_view height, std::string_view width,
                          bool ceil_mode = false);

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
  std::int64_t weight_channels = 0;  // input channels that the weights have for one output channel
  // Of conv_config.
  DType weight_dtype = DType::kBfloat16;
  std::optional<MemoryLayout> shard_layout;
  std::int64_t block_height = 0;  // act_block_h_override, in elements
  bool transpose_shards = false;
  bool row_major_out = false;
  Value activation;

  bool depthwise() const { return groups > 1 && groups == in_channels && groups == out_channels; }
  // One pixel in, one pixel out: a matmul.
  bool pointwise() const;
  std::int64_t weight_rows() const { return window.kernel_h * window.kernel_w * weight_channels; }
};

Checked<ConvCall> conv_call(const BoundCall& call);
Checked<DType> conv_dtype(const BoundCall& call);
ComputeConfig conv_compute(const BoundCall& call, const ConvCall& conv);

// Weights and bias as the host hands them to the device: converted, one matrix of kernel_h x kernel_w x channels rows a
// group.
struct ConvWeights {
  std::int64_t groups = 1;
  std::int64_t in = 0;   // channels of one group
  std::int64_t out = 0;  // the same
  std::vector<float> matrix;
  std::vector<float> bias;  // of all output channels; empty: none

  std::int64_t row(std::int64_t group, std::int64_t tap, std::int64_t channel, std::int64_t taps) const {
    return ((group * taps + tap) * in + channel) * out;
  }
};
ConvWeights conv_weights(const ConvCall& conv, const HostTensor& weight, const HostTensor* bias);

}  // namespace opwright
