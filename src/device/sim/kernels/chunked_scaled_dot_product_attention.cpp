#include "device/sim/attention.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const HostTensor* tensor = job.input("chunk_start_idx_tensor");
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t start, job.call.integer("chunk_start_idx", 0));
  return prefill(job, tensor == nullptr || tensor->ints.empty() ? start : tensor->ints[0]);
}

}  // namespace

extern const Kernel kChunkedScaledDotProductAttentionKernel{
    .op = "ttnn.transformer.chunked_scaled_dot_product_attention", .admit = admit_attention, .run = run};

}  // namespace opwright::sim
