#include "device/sim/pool.h"

namespace opwright::sim {

extern const Kernel kMaxPool2dKernel{.op = "ttnn.max_pool2d", .admit = admit_pool, .run = run_max_pool};

}  // namespace opwright::sim
