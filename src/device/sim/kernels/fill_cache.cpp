#include "device/sim/cache.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const HostTensor& cache = *job.input("cache_tensor");
  const HostTensor& input = *job.input("input_tensor");
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t user, job.call.integer("batch_idx", 0));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t first, job.call.integer("update_idx", 0));
  const Shape& c = cache.spec.shape;
  const std::int64_t height = input.spec.shape[2];
  CacheUpdate update(cache, input, job.outputs[0]);
  // Whole tiles, the padding of the last one too.
  for (std::int64_t head = 0; head < c[1]; ++head)
    for (std::int64_t s = 0; s < round_up(height, 32) && first + s < c[2]; ++s)
      update.write((user * c[1] + head) * c[2] + first + s, s < height ? head * height + s : -1);
  return std::vector{update.take()};
}

}  // namespace

extern const Kernel kFillCacheKernel{.op = "ttnn.fill_cache", .admit = admit_cache, .run = run};

}  // namespace opwright::sim
