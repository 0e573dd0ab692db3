#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kGtKernel{.op = "ttnn.gt", .admit = admit_binary, .run = [](const KernelJob& job) {
                                return run_binary(job, {.op = Binary::kGt});
                              }};

}  // namespace opwright::sim
