#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kSubtractKernel{.op = "ttnn.subtract", .admit = admit_binary, .run = [](const KernelJob& job) {
                                      return run_binary(job, {.op = Binary::kSub});
                                    }};

}  // namespace opwright::sim
