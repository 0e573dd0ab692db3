#include "device/sim/movement.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) { return move_whole(job, "input_tensor"); }

}  // namespace

extern const Kernel kShardedToInterleavedKernel{.op = "ttnn.sharded_to_interleaved", .run = run};

}  // namespace opwright::sim
