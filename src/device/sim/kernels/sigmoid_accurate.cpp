#include "device/sim/eltwise.h"

namespace opwright::sim {

extern const Kernel kSigmoidAccurateKernel{
    .op = "ttnn.sigmoid_accurate", .run = [](const KernelJob& job) { return run_unary(job, Unary::kSigmoidAccurate); }};

}  // namespace opwright::sim
