#include "device/sim/movement.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) { return move_whole(job, "input_tensor"); }

}  // namespace

extern const Kernel kUntilizeKernel{.op = "ttnn.untilize", .run = run};

}  // namespace opwright::sim
