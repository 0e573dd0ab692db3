// The weights of a convolution as the engine multiplies by them, from either form in which a call brings them.
#pragma once

#include <cstdint>
#include <vector>

#include "device/sim/kernel.h"

namespace opwright::sim {

// What one output channel sees, and how the weights lie.
struct ConvSizes {
  std::int64_t taps = 1;
  std::int64_t taps_wide = 1;  // of one row of the window
  std::int64_t in = 0;         // channels of the image
  std::int64_t out = 0;
  std::int64_t groups = 1;
  // The library has laid them out: one matrix, `rows_of_tap` rows for each tap, a column for each output channel.
  bool laid_out = false;
  std::int64_t rows_of_tap = 0;
};
ConvSizes conv_sizes(std::int64_t taps_high, std::int64_t taps_wide, std::int64_t in, std::int64_t out,
                     std::int64_t groups, const TensorSpec& weight);

// Converted as the host does it; one matrix a group, its rows tap by tap.
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
ConvWeights conv_weights(const ConvSizes& sizes, const HostTensor& weight, const HostTensor* bias, DType dtype);

}  // namespace opwright::sim
