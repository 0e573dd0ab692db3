#include "device/sim/cache.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  OPWRIGHT_CHECK_ASSIGN(HostTensor out, update_cache(job, "cache_tensor", "input_tensor", 0));
  std::vector<HostTensor> outputs;
  outputs.push_back(std::move(out));
  return outputs;
}

}  // namespace

extern const Kernel kPagedUpdateCacheKernel{
    .op = "ttnn.experimental.paged_update_cache", .admit = admit_cache, .run = run};

}  // namespace opwright::sim
