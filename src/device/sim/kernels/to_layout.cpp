#include "device/sim/movement.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) { return move_whole(job, "tensor"); }

}  // namespace

extern const Kernel kToLayoutKernel{.op = "ttnn.to_layout", .run = run};

}  // namespace opwright::sim
