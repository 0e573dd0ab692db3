#include "device/sim/conv_weights.h"

#include <algorithm>

#include "model/quantize.h"

namespace opwright::sim {

ConvSizes conv_sizes(std::int64_t taps_high, std::int64_t taps_wide, std::int64_t in, std::int64_t out,
                     std::int64_t groups, const TensorSpec& weight) {
  ConvSizes sizes{.taps = taps_high * taps_wide, .taps_wide = taps_wide, .in = in, .out = out, .groups = groups};
  const Shape& shape = weight.shape;
  const bool matrix = shape.size() == 4 && shape[0] == 1 && shape[1] == 1 && shape[2] > 1;
  if (!matrix || shape[2] % sizes.taps != 0) return sizes;
  // One output and one input channel: such a filter looks like a matrix.
  const bool filter = (in == 1 && out == 1) || (shape[2] == taps_high && weight.storage.value == StorageType::kHost);
  sizes.laid_out = !filter;
  sizes.rows_of_tap = shape[2] / sizes.taps;
  return sizes;
}

ConvWeights conv_weights(const ConvSizes& sizes, const HostTensor& weight, const HostTensor* bias, DType dtype) {
  ConvWeights out;
  out.groups = sizes.laid_out ? 1 : sizes.groups;
  out.in = sizes.laid_out ? std::min(sizes.rows_of_tap, sizes.in) : sizes.in / sizes.groups;
  out.out = sizes.out / out.groups;
  out.matrix.assign(static_cast<std::size_t>(out.groups * sizes.taps * out.in * out.out), 0.0F);
  Shape shape = weight.spec.shape;
  if (shape.size() == 3) shape.insert(shape.begin() + 2, 1);
  if (shape.size() != 4 || weight.floats.empty()) return out;
  // Rows of all output channels: block floats share exponents along them.
  std::vector<float> line(static_cast<std::size_t>(sizes.out));
  for (std::int64_t group = 0; group < out.groups; ++group)
    for (std::int64_t tap = 0; tap < sizes.taps; ++tap)
      for (std::int64_t channel = 0; channel < out.in; ++channel) {
        std::ranges::fill(line, 0.0F);
        const std::int64_t y = tap / sizes.taps_wide;
        const std::int64_t x = tap % sizes.taps_wide;
        for (std::int64_t i = 0; i < out.out; ++i) {
          const std::int64_t o = group * out.out + i;
          std::int64_t at = -1;
          if (sizes.laid_out) {
            if (o < shape[3]) at = (tap * sizes.rows_of_tap + channel) * shape[3] + o;
          } else if (o < shape[0] && channel < shape[1] && y < shape[2] && x < shape[3]) {
            at = ((o * shape[1] + channel) * shape[2] + y) * shape[3] + x;
          }
          if (at >= 0) line[static_cast<std::size_t>(o)] = weight.floats[static_cast<std::size_t>(at)];
        }
        if (!sizes.laid_out) quantize(line, sizes.out, dtype);
        std::copy_n(line.begin() + group * out.out, out.out,
                    out.matrix.begin() + out.row(group, tap, channel, sizes.taps));
      }
  if (bias != nullptr) {
    out.bias = bias->floats;
    out.bias.resize(static_cast<std::size_t>(sizes.out));
    if (!sizes.laid_out) quantize(out.bias, sizes.out, dtype);
  }
  return out;
}

}  // namespace opwright::sim
