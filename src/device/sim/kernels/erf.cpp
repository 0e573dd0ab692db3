#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kErfKernel{.op = "ttnn.erf",
                               .run = [](const KernelJob& job) { return run_unary(job, Unary::kErf); }};

}  // namespace opwright::sim
