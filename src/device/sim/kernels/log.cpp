#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kLogKernel{.op = "ttnn.log",
                               .run = [](const KernelJob& job) { return run_unary(job, Unary::kLog); }};

}  // namespace opwright::sim
