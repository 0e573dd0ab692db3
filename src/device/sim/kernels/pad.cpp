#include <algorithm>
#include <cstdlib>

#include "device/sim/movement.h"

namespace opwright::sim {
namespace {

Checked<double> read_value(const BoundCall& call) {
  if (const Value* value = call.find("value"))
    if (const auto* big = std::get_if<BigInt>(&value->data())) return std::strtod(big->digits.c_str(), nullptr);
  return call.number("value", 0);
}

// Elements in front of the input, for each dimension of it.
Checked<Shape> read_front(const BoundCall& call, std::size_t rank) {
  if (call.passed("input_tensor_start")) {
    OPWRIGHT_CHECK_ASSIGN(const auto start, call.ints("input_tensor_start"));
    return start.value_or(Shape{});
  }
  Shape front;
  if (const Value* padding = call.find("padding"); padding != nullptr && padding->as_list() != nullptr)
    for (const Value& item : *padding->as_list()) front.push_back(*item.as_list()->at(0).as_int());
  front.insert(front.begin(), rank - std::min(rank, front.size()), 0);
  return front;
}

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  const Shape& shape = input.spec.shape;
  if (job.outputs[0].spec.shape == shape) return std::vector{same_order(input, job.outputs[0])};
  OPWRIGHT_CHECK_ASSIGN(const double value, read_value(job.call));
  OPWRIGHT_CHECK_ASSIGN(const Shape front, read_front(job.call, shape.size()));
  HostTensor out = unwritten(job.outputs[0]);
  fill(out, value);
  Window window{
      .shape = shape, .from_strides = row_major_strides(shape), .to_strides = row_major_strides(out.spec.shape)};
  for (std::size_t i = 0; i < shape.size(); ++i) window.to += front[i] * window.to_strides[i];
  copy_window(input, window, out);
  repack(out);
  return std::vector{std::move(out)};
}

}  // namespace

extern const Kernel kPadKernel{.op = "ttnn.pad", .run = run};

}  // namespace opwright::sim
