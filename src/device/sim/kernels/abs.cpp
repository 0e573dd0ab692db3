#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kAbsKernel{.op = "ttnn.abs",
                               .run = [](const KernelJob& job) { return run_unary(job, Unary::kAbs); }};

}  // namespace opwright::sim
