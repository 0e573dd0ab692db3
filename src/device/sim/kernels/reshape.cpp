#include <algorithm>

#include "device/sim/movement.h"

namespace opwright::sim {
namespace {

std::int64_t back(const Shape& shape, std::size_t from_end) {
  return shape.size() < from_end ? 1 : shape[shape.size() - from_end];
}

// A view over memory that shows more or fewer elements: rows of the padded form stay where they are.
HostTensor exposed(const HostTensor& input, const OutputSpec& output) {
  HostTensor out = unwritten(output);
  fill(out, 0);
  const Shape padded = padded_shape(input.spec);
  const std::int64_t width = back(out.spec.shape, 1);
  const std::int64_t rows = back(out.spec.shape, 2);
  const std::int64_t from_width = back(input.spec.shape, 1);
  const std::int64_t from_rows = back(input.spec.shape, 2);
  if (width * rows * from_width * from_rows == 0) return out;
  const std::int64_t from_matrices = input.size() / (from_rows * from_width);
  for (std::int64_t row = 0; row < out.size() / width; ++row) {
    const std::int64_t place = row / rows * back(output.padded, 2) + row % rows;
    const std::int64_t matrix = place / back(padded, 2);
    const std::int64_t from_row = place % back(padded, 2);
    if (matrix >= from_matrices || from_row >= from_rows) continue;
    copy_window(input,
                {.shape = {std::min(width, from_width)},
                 .from_strides = {1},
                 .from = (matrix * from_rows + from_row) * from_width,
                 .to_strides = {1},
                 .to = row * width},
                out);
  }
  return out;
}

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  const OutputSpec& output = job.outputs[0];
  if (volume(output.spec.shape) != input.size()) return std::vector{exposed(input, output)};
  HostTensor out = same_order(input, output);
  if (row_length(output.spec.shape) != row_length(input.spec.shape)) repack(out);
  return std::vector{std::move(out)};
}

}  // namespace

extern const Kernel kReshapeKernel{.op = "ttnn.reshape", .run = run};

}  // namespace opwright::sim
