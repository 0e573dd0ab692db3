#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kCosKernel{.op = "ttnn.cos",
                               .run = [](const KernelJob& job) { return run_unary(job, Unary::kCos); }};

}  // namespace opwright::sim
