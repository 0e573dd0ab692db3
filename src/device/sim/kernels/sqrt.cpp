#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kSqrtKernel{.op = "ttnn.sqrt",
                                .run = [](const KernelJob& job) { return run_unary(job, Unary::kSqrt); }};

}  // namespace opwright::sim
