#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kSquareKernel{.op = "ttnn.square",
                                  .run = [](const KernelJob& job) { return run_unary(job, Unary::kSquare); }};

}  // namespace opwright::sim
