#include "device/sim/reduce_tensor.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) { return run_reduction(job, Reduction::kMean); }

}  // namespace

extern const Kernel kMeanKernel{.op = "ttnn.mean", .run = run};

}  // namespace opwright::sim
