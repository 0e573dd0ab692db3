// How the device moves values: strided copies, and what the packer makes of them where they pass through it.
#pragma once

#include "device/sim/kernel.h"

namespace opwright::sim {

// The values of `input` in their own order, in the shape of the output.
HostTensor same_order(const HostTensor& input, const OutputSpec& output);

// A rectangle of values in two tensors: element (i0, i1, …) lies at offset + sum i * strides, one stride a dimension.
struct Window {
  Shape shape;
  Shape from_strides;
  std::int64_t from = 0;
  Shape to_strides;
  std::int64_t to = 0;
};
void copy_window(const HostTensor& input, const Window& window, HostTensor& output);
Shape row_major_strides(const Shape& shape);

// Fills everything with one value, as the output's dtype holds it.
void fill(HostTensor& output, double value);

// Block floats whose values came together anew share exponents anew, as the packer rounds.
void repack(HostTensor& output);

// The values of a tensor in another dtype (`output.spec.dtype`), as the vector unit converts and the packer rounds. The
// shapes hold the same number of elements.
HostTensor convert(const HostTensor& input, const OutputSpec& output);

// A whole kernel: the values of parameter `param` as they are, in the output's shape and dtype.
Checked<std::vector<HostTensor>> move_whole(const KernelJob& job, std::string_view param);
// A whole kernel: dimension order[i] of `input_tensor` becomes the i-th.
Checked<std::vector<HostTensor>> turn(const KernelJob& job, const std::vector<std::size_t>& order);

}  // namespace opwright::sim
