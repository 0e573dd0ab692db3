#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kGeluKernel{.op = "ttnn.gelu",
                                .run = [](const KernelJob& job) { return run_unary(job, Unary::kGelu); }};

}  // namespace opwright::sim
