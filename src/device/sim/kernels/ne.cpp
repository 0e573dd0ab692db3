#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kNeKernel{.op = "ttnn.ne", .admit = admit_binary, .run = [](const KernelJob& job) {
                                return run_binary(job, {.op = Binary::kNe});
                              }};

}  // namespace opwright::sim
