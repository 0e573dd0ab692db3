#include "device/sim/movement.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) { return move_whole(job, "tensor"); }

}  // namespace

extern const Kernel kToMemoryConfigKernel{.op = "ttnn.to_memory_config", .run = run};

}  // namespace opwright::sim
