#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kRsqrtKernel{.op = "ttnn.rsqrt",
                                 .run = [](const KernelJob& job) { return run_unary(job, Unary::kRsqrt); }};

}  // namespace opwright::sim
