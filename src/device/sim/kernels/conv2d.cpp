#include "device/sim/conv.h"

namespace opwright::sim {

extern const Kernel kConv2dKernel{.op = "ttnn.conv2d", .admit = admit_conv, .run = run_conv};

}  // namespace opwright::sim
