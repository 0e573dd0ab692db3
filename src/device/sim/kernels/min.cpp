#include "device/sim/reduce_tensor.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) { return run_reduction(job, Reduction::kMin); }

}  // namespace

extern const Kernel kMinKernel{.op = "ttnn.min", .run = run};

}  // namespace opwright::sim
