#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kGeKernel{.op = "ttnn.ge", .admit = admit_binary, .run = [](const KernelJob& job) {
                                return run_binary(job, {.op = Binary::kGe});
                              }};

}  // namespace opwright::sim
