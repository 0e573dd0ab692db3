#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kNegKernel{.op = "ttnn.neg",
                               .run = [](const KernelJob& job) { return run_unary(job, Unary::kNeg); }};

}  // namespace opwright::sim
