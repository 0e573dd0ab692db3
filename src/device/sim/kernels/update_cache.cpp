#include "device/sim/cache.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const HostTensor& cache = *job.input("cache");
  const HostTensor& input = *job.input("input");
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t position, job.call.integer("update_idx", 0));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t offset, job.call.integer("batch_offset", 0));
  const Shape& c = cache.spec.shape;
  const std::int64_t height = input.spec.shape[2];
  CacheUpdate update(cache, input, job.outputs[0]);
  for (std::int64_t user = 0; user < c[0] && position < c[2]; ++user)
    for (std::int64_t head = 0; head < c[1]; ++head)
      update.write((user * c[1] + head) * c[2] + position, user + offset < height ? head * height + user + offset : -1);
  return std::vector{update.take()};
}

}  // namespace

extern const Kernel kUpdateCacheKernel{.op = "ttnn.update_cache", .admit = admit_cache, .run = run};

}  // namespace opwright::sim
