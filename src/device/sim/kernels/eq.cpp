#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kEqKernel{.op = "ttnn.eq", .admit = admit_binary, .run = [](const KernelJob& job) {
                                return run_binary(job, {.op = Binary::kEq});
                              }};

}  // namespace opwright::sim
