#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kAddInPlaceKernel{.op = "ttnn.add_", .admit = admit_binary, .run = [](const KernelJob& job) {
                                        return run_binary(job, {.op = Binary::kAdd});
                                      }};

}  // namespace opwright::sim
