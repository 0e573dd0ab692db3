#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kSiluKernel{.op = "ttnn.silu",
                                .run = [](const KernelJob& job) { return run_unary(job, Unary::kSilu); }};

}  // namespace opwright::sim
