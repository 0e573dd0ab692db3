#include "device/sim/cache.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const HostTensor& cache = *job.input("cache_tensor");
  const HostTensor& input = *job.input("input_tensor");
  const HostTensor& pages = *job.input("page_table");
  const HostTensor* users = job.input("batch_idx_tensor");
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t fallback, job.call.integer("batch_idx", 0));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t modulo, job.call.integer("cache_position_modulo", 0));
  const Shape& c = cache.spec.shape;
  const Shape& in = input.spec.shape;
  if (in[1] != c[1]) return unsupported("input_tensor", "caches seen in another shape are not modelled");
  const std::int64_t columns = pages.spec.shape.size() < 2 ? 0 : pages.spec.shape[1];
  CacheUpdate update(cache, input, job.outputs[0]);
  for (std::int64_t b = 0; b < in[0]; ++b) {
    const std::int64_t user = users == nullptr ? fallback : users->ints[static_cast<std::size_t>(b)];
    for (std::int64_t s = 0; s < round_up(in[2], 32); ++s) {
      const std::int64_t position = modulo > 0 ? s % modulo : s;
      const std::int64_t at = user * columns + position / c[2];
      if (user < 0 || position / c[2] >= columns || at >= pages.size()) continue;
      const std::int64_t block = pages.ints[static_cast<std::size_t>(at)];
      if (block < 0 || block >= c[0]) continue;
      for (std::int64_t head = 0; head < c[1]; ++head)
        update.write((block * c[1] + head) * c[2] + position % c[2], s < in[2] ? (b * in[1] + head) * in[2] + s : -1);
    }
  }
  return std::vector{update.take()};
}

}  // namespace

extern const Kernel kPagedFillCacheKernel{.op = "ttnn.experimental.paged_fill_cache", .admit = admit_cache, .run = run};

}  // namespace opwright::sim
