#include "device/sim/norm_rows.h"
#include "device/sim/reduce_tensor.h"

namespace opwright::sim {
namespace {

// The mean over height and width, as one sum of columns.
Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  const Shape& shape = input.spec.shape;
  const std::size_t rank = shape.size();
  const std::int64_t channels = rank == 2 ? 1 : shape[rank - 1];
  const std::int64_t batch = rank == 4 ? shape[0] : 1;
  HostTensor flat{input.spec, input.floats, input.ints};
  flat.spec.shape = {batch, batch * channels == 0 ? 0 : input.size() / (batch * channels), channels};
  const EngineMode mode{job.board.wormhole() ? Fidelity::kHiFi3 : Fidelity::kHiFi4, Dst::kFp32};
  return std::vector{reduce_tensor(flat, {1}, *find_reduction("mean"), 1.0, mode, job.outputs[0])};
}

}  // namespace

extern const Kernel kGlobalAvgPool2dKernel{.op = "ttnn.global_avg_pool2d", .run = run};

}  // namespace opwright::sim
