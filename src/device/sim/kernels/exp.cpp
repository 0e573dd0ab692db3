#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kExpKernel{.op = "ttnn.exp",
                               .run = [](const KernelJob& job) { return run_unary(job, Unary::kExp); }};

}  // namespace opwright::sim
