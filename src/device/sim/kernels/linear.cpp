#include "device/sim/matmul.h"

namespace opwright::sim {

extern const Kernel kLinearKernel{.op = "ttnn.linear", .admit = admit_matmul, .run = run_matmul};

}  // namespace opwright::sim
