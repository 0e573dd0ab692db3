#include "device/sim/norm_rows.h"

namespace opwright::sim {
namespace {

constexpr ComputeConfig kDefaults{.fidelity = Fidelity::kHiFi4, .approx = true};

Checked<std::vector<HostTensor>> run(const KernelJob& job) { return run_row_norm(job, false, kDefaults); }

}  // namespace

extern const Kernel kRmsNormKernel{.op = "ttnn.rms_norm", .admit = admit_row_norm, .run = run};

}  // namespace opwright::sim
