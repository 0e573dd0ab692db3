#include "device/sim/matmul.h"

namespace opwright::sim {

extern const Kernel kMatmulKernel{.op = "ttnn.matmul", .admit = admit_matmul, .run = run_matmul};

}  // namespace opwright::sim
