#include "device/sim/movement.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  if (job.input("input_tensor")->size() == volume(job.outputs[0].spec.shape)) return move_whole(job, "input_tensor");
  // Of a tensor without elements only the padding is seen.
  OPWRIGHT_CHECK_ASSIGN(const double value, job.call.number("pad_value", 0));
  HostTensor out = unwritten(job.outputs[0]);
  fill(out, value);
  repack(out);
  return std::vector{std::move(out)};
}

}  // namespace

extern const Kernel kTilizeWithValPaddingKernel{.op = "ttnn.tilize_with_val_padding", .run = run};

}  // namespace opwright::sim
