#include "device/sim/reduce_tensor.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) { return run_reduction(job, Reduction::kSum); }

}  // namespace

extern const Kernel kSumKernel{.op = "ttnn.sum", .run = run};

}  // namespace opwright::sim
