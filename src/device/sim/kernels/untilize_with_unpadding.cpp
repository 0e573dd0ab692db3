#include <algorithm>

#include "device/sim/movement.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  HostTensor out = unwritten(job.outputs[0]);
  Window window{.shape = out.spec.shape,
                .from_strides = row_major_strides(input.spec.shape),
                .to_strides = row_major_strides(out.spec.shape)};
  bool inside = true;
  for (std::size_t i = 0; i < window.shape.size(); ++i) {
    inside = inside && window.shape[i] <= input.spec.shape[i];
    window.shape[i] = std::min(window.shape[i], input.spec.shape[i]);
  }
  if (!inside) fill(out, 0);
  copy_window(input, window, out);
  return std::vector{std::move(out)};
}

}  // namespace

extern const Kernel kUntilizeWithUnpaddingKernel{.op = "ttnn.untilize_with_unpadding", .run = run};

}  // namespace opwright::sim
