#include "device/sim/movement.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t asked, job.call.integer("dim", 0));
  HostTensor out = unwritten(job.outputs[0]);
  const auto rank = static_cast<std::int64_t>(out.spec.shape.size());
  const auto dim = static_cast<std::size_t>(asked < 0 ? asked + rank : asked);
  Window window{.to_strides = row_major_strides(out.spec.shape)};
  const std::size_t count = job.call.tensor_list("tensors").size();
  for (std::size_t i = 0; i < count; ++i) {
    const HostTensor& part = *job.input("tensors", i);
    window.shape = part.spec.shape;
    window.from_strides = row_major_strides(part.spec.shape);
    copy_window(part, window, out);
    window.to += part.spec.shape[dim] * window.to_strides[dim];
  }
  repack(out);
  return std::vector{std::move(out)};
}

}  // namespace

extern const Kernel kConcatKernel{.op = "ttnn.concat", .run = run};

}  // namespace opwright::sim
