#include "device/sim/cache.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  std::vector<HostTensor> outputs;
  OPWRIGHT_CHECK_ASSIGN(HostTensor keys, update_cache(job, "cache_tensor1", "input_tensor1", 0));
  outputs.push_back(std::move(keys));
  OPWRIGHT_CHECK_ASSIGN(HostTensor values, update_cache(job, "cache_tensor2", "input_tensor2", 1));
  outputs.push_back(std::move(values));
  return outputs;
}

}  // namespace

extern const Kernel kPagedFusedUpdateCacheKernel{
    .op = "ttnn.experimental.paged_fused_update_cache", .admit = admit_cache, .run = run};

}  // namespace opwright::sim
