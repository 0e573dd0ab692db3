#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kMinimumKernel{.op = "ttnn.minimum", .admit = admit_binary, .run = [](const KernelJob& job) {
                                     return run_binary(job, {.op = Binary::kMin});
                                   }};

}  // namespace opwright::sim
