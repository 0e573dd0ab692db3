#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kLtKernel{.op = "ttnn.lt", .admit = admit_binary, .run = [](const KernelJob& job) {
                                return run_binary(job, {.op = Binary::kLt});
                              }};

}  // namespace opwright::sim
