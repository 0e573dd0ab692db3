#include <algorithm>

#include "device/sim/movement.h"

namespace opwright::sim {
namespace {

// Where the cut begins in each dimension, and how far its elements are apart.
Checked<void> read_cut(const KernelJob& job, const Shape& shape, Shape& begins, Shape& steps) {
  steps.assign(shape.size(), 1);
  if (const HostTensor* starts = job.input("starts")) {
    OPWRIGHT_CHECK_ASSIGN(const std::int64_t dim, job.call.integer("slice_dim", 0));
    begins.assign(shape.size(), 0);
    if (starts->ints.size() == shape.size())
      begins = starts->ints;
    else if (dim >= 0 && dim < static_cast<std::int64_t>(shape.size()) && !starts->ints.empty())
      begins[static_cast<std::size_t>(dim)] = starts->ints[0];
    return {};
  }
  OPWRIGHT_CHECK_ASSIGN(const auto starts, job.call.ints("starts"));
  OPWRIGHT_CHECK_ASSIGN(const auto apart, job.call.ints("steps"));
  begins = starts.value_or(Shape{});
  for (std::size_t i = 0; i < begins.size() && i < shape.size(); ++i)
    if (begins[i] < 0) begins[i] += shape[i];
  if (apart) steps = *apart;
  return {};
}

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  const Shape& shape = input.spec.shape;
  if (shape.empty()) return std::vector{same_order(input, job.outputs[0])};
  Shape begins;
  Shape steps;
  OPWRIGHT_CHECK(read_cut(job, shape, begins, steps));
  HostTensor out = unwritten(job.outputs[0]);
  const Shape own = row_major_strides(shape);
  Window window{.shape = out.spec.shape, .to_strides = row_major_strides(out.spec.shape)};
  bool inside = true;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (begins[i] < 0 || begins[i] >= std::max<std::int64_t>(1, shape[i]))
      return refuse("a start read from its tensor lies outside the input", "starts");
    window.from += begins[i] * own[i];
    window.from_strides.push_back(own[i] * steps[i]);
    const std::int64_t known = div_up(shape[i] - begins[i], steps[i]);
    inside = inside && known >= window.shape[i];
    window.shape[i] = std::min(window.shape[i], known);
  }
  // Whole tiles are taken: beyond the last element there is their padding.
  if (!inside) fill(out, 0);
  copy_window(input, window, out);
  return std::vector{std::move(out)};
}

}  // namespace

extern const Kernel kSliceKernel{.op = "ttnn.slice", .run = run};

}  // namespace opwright::sim
