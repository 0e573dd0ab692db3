#include "device/sim/norm_rows.h"

namespace opwright::sim {
namespace {

constexpr ComputeConfig kDefaults{.fidelity = Fidelity::kHiFi4, .fp32_acc = true};

Checked<std::vector<HostTensor>> run(const KernelJob& job) { return run_row_norm(job, true, kDefaults); }

}  // namespace

extern const Kernel kLayerNormKernel{.op = "ttnn.layer_norm", .admit = admit_row_norm, .run = run};

}  // namespace opwright::sim
