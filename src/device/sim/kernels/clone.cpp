#include "device/sim/movement.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) { return move_whole(job, "input"); }

}  // namespace

extern const Kernel kCloneKernel{.op = "ttnn.clone", .run = run};

}  // namespace opwright::sim
