#include "device/sim/pool.h"

namespace opwright::sim {

extern const Kernel kAvgPool2dKernel{.op = "ttnn.avg_pool2d", .admit = admit_pool, .run = run_avg_pool};

}  // namespace opwright::sim
