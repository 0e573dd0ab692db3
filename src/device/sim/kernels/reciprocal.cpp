#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kReciprocalKernel{.op = "ttnn.reciprocal",
                                      .run = [](const KernelJob& job) { return run_unary(job, Unary::kReciprocal); }};

}  // namespace opwright::sim
