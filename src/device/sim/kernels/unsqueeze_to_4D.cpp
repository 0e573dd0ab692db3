#include "device/sim/movement.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) { return move_whole(job, "tensor"); }

}  // namespace

extern const Kernel kUnsqueezeTo4DKernel{.op = "ttnn.unsqueeze_to_4D", .run = run};

}  // namespace opwright::sim
