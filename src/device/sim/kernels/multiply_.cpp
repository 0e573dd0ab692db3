#include "device/sim/eltwise.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const auto fast = job.call.flag("fast_and_approximate_mode", false);
  if (!fast) return refuse(fast.error());
  return run_binary(job, {.op = Binary::kMul, .fast = *fast, .first = "input_a", .second = "input_b"});
}

}  // namespace

extern const Kernel kMultiplyInPlaceKernel{.op = "ttnn.multiply_", .admit = admit_binary, .run = run};

}  // namespace opwright::sim
