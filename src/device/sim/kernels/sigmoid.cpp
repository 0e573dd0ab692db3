#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kSigmoidKernel{.op = "ttnn.sigmoid",
                                   .run = [](const KernelJob& job) { return run_unary(job, Unary::kSigmoid); }};

}  // namespace opwright::sim
