#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kMaximumKernel{.op = "ttnn.maximum", .admit = admit_binary, .run = [](const KernelJob& job) {
                                     return run_binary(job, {.op = Binary::kMax});
                                   }};

}  // namespace opwright::sim
