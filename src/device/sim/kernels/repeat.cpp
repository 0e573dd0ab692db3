#include "device/sim/movement.h"

namespace opwright::sim {
namespace {

// Each dimension of the output is two: how often, and where in the input.
Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  OPWRIGHT_CHECK_ASSIGN(const auto times, job.call.ints("repeat_dims"));
  HostTensor out = unwritten(job.outputs[0]);
  const std::size_t rank = out.spec.shape.size();
  Shape from = input.spec.shape;
  from.insert(from.begin(), rank - from.size(), 1);
  const Shape from_strides = row_major_strides(from);
  const Shape to_strides = row_major_strides(out.spec.shape);
  Window window;
  for (std::size_t i = 0; i < rank; ++i) {
    window.shape.push_back(from[i] == 0 ? 0 : out.spec.shape[i] / from[i]);
    window.from_strides.push_back(0);
    window.to_strides.push_back(from[i] * to_strides[i]);
    window.shape.push_back(from[i]);
    window.from_strides.push_back(from_strides[i]);
    window.to_strides.push_back(to_strides[i]);
  }
  copy_window(input, window, out);
  if (!times->empty() && times->back() != 1) repack(out);
  return std::vector{std::move(out)};
}

}  // namespace

extern const Kernel kRepeatKernel{.op = "ttnn.repeat", .run = run};

}  // namespace opwright::sim
