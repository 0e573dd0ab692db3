#include "device/sim/reduce_tensor.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) { return run_reduction(job, Reduction::kMax); }

}  // namespace

extern const Kernel kMaxKernel{.op = "ttnn.max", .run = run};

}  // namespace opwright::sim
