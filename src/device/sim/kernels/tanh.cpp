#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kTanhKernel{.op = "ttnn.tanh",
                                .run = [](const KernelJob& job) { return run_unary(job, Unary::kTanh); }};

}  // namespace opwright::sim
