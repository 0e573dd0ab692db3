#include "device/sim/attention.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) { return prefill(job, 0); }

}  // namespace

extern const Kernel kScaledDotProductAttentionKernel{
    .op = "ttnn.transformer.scaled_dot_product_attention", .admit = admit_attention, .run = run};

}  // namespace opwright::sim
