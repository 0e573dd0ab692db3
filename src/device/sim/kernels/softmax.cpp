#include "device/sim/softmax_rows.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const TensorSpec& input = job.input("input_tensor")->spec;
  const auto rank = static_cast<std::int64_t>(input.shape.size());
  OPWRIGHT_CHECK_ASSIGN(std::int64_t dim, job.call.integer("dim", -1));
  if (dim < 0) dim += rank;
  OPWRIGHT_CHECK_ASSIGN(const bool stable, job.call.flag("numeric_stable", true));
  SoftmaxMode mode = softmax_mode(job.call, input.dtype.value, stable, job.board);
  const bool along_rows = rank == 0 || dim == rank - 1;
  // The kernels for other dimensions do not know the approximate exp.
  mode.approx = mode.approx && along_rows;
  return run_softmax(
      job, along_rows ? static_cast<std::size_t>(std::max<std::int64_t>(rank, 1) - 1) : static_cast<std::size_t>(dim),
      mode);
}

}  // namespace

extern const Kernel kSoftmaxKernel{.op = "ttnn.softmax", .run = run};

}  // namespace opwright::sim
