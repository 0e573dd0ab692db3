#include "device/sim/softmax_rows.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const TensorSpec& input = job.input("input_tensor")->spec;
  OPWRIGHT_CHECK_ASSIGN(const bool stable, job.call.flag("numeric_stable", true));
  return run_softmax(job, input.shape.empty() ? 0 : input.shape.size() - 1,
                     softmax_mode(job.call, input.dtype.value, stable, job.board));
}

}  // namespace

extern const Kernel kSoftmaxInPlaceKernel{.op = "ttnn.softmax_in_place", .run = run};

}  // namespace opwright::sim
