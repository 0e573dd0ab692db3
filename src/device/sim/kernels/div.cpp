#include "device/sim/eltwise.h"

namespace opwright::sim {
namespace {

// Era-1 traces name the accurate variant, later ones the fast one.
Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const auto accurate = job.call.flag("accurate_mode", true);
  if (!accurate) return refuse(accurate.error());
  const auto fast = job.call.flag("fast_and_approximate_mode", !*accurate);
  if (!fast) return refuse(fast.error());
  return run_binary(job, {.op = Binary::kDiv, .fast = *fast});
}

}  // namespace

extern const Kernel kDivKernel{.op = "ttnn.div", .admit = admit_binary, .run = run};

}  // namespace opwright::sim
