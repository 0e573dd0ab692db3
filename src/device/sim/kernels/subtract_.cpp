#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kSubtractInPlaceKernel{
    .op = "ttnn.subtract_", .admit = admit_binary, .run = [](const KernelJob& job) {
      return run_binary(job, {.op = Binary::kSub});
    }};

}  // namespace opwright::sim
