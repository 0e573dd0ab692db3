#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kLeKernel{.op = "ttnn.le", .admit = admit_binary, .run = [](const KernelJob& job) {
                                return run_binary(job, {.op = Binary::kLe});
                              }};

}  // namespace opwright::sim
