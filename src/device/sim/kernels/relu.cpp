#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kReluKernel{.op = "ttnn.relu",
                                .run = [](const KernelJob& job) { return run_unary(job, Unary::kRelu); }};

}  // namespace opwright::sim
