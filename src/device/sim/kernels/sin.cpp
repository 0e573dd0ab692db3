#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kSinKernel{.op = "ttnn.sin",
                               .run = [](const KernelJob& job) { return run_unary(job, Unary::kSin); }};

}  // namespace opwright::sim
