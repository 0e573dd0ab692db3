#include "device/sim/cache.h"

#include <algorithm>

#include "device/sim/pack.h"
#include "device/sim/unpack.h"

namespace opwright::sim {

CacheUpdate::CacheUpdate(const HostTensor& cache, const HostTensor& input, const OutputSpec& output)
    : input_(input),
      out_{output.spec, cache.floats, {}},
      width_(row_length(cache.spec.shape)),
      rows_(width_ == 0 ? 0 : cache.size() / width_),
      repack_(cache.spec.dtype.value != input.spec.dtype.value) {}

void CacheUpdate::write(std::int64_t row, std::int64_t from) {
  if (row < 0 || row >= rows_) return;
  const std::span<float> to(out_.floats.data() + row * width_, static_cast<std::size_t>(width_));
  std::fill(to.begin(), to.end(), 0.0F);
  if (from < 0) return;
  const std::int64_t given = row_length(input_.spec.shape);
  const float* const source = input_.floats.data() + from * given;
  std::copy(source, source + std::min(given, width_), to.begin());
  if (!repack_) return;
  // Through a 16-bit destination register; the other rows of the tile come back as they were.
  unpack_to_source(to, input_.spec.dtype.value);
  round_to_dst(to, Dst::kBf16);
  pack(to, width_, out_.spec.dtype.value, Dst::kBf16);
}

Checked<HostTensor> update_cache(const KernelJob& job, std::string_view cache_name, std::string_view input_name,
                                 std::size_t output) {
  const HostTensor& cache = *job.input(cache_name);
  const HostTensor& input = *job.input(input_name);
  const HostTensor* pages = job.input("page_table");
  const HostTensor* positions = job.input("update_idxs_tensor");
  const Shape& c = cache.spec.shape;
  const Shape& in = input.spec.shape;
  OPWRIGHT_CHECK_ASSIGN(const bool shared, job.call.flag("share_cache", false));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t modulo, job.call.integer("cache_position_modulo", 0));
  Shape listed;
  if (job.call.passed("update_idxs")) {
    OPWRIGHT_CHECK_ASSIGN(const auto read, job.call.ints("update_idxs"));
    listed = *read;
  }
  CacheUpdate update(cache, input, job.outputs[output]);
  for (std::int64_t user = 0; user < in[1]; ++user) {
    const auto at = static_cast<std::size_t>(user);
    std::int64_t position = -1;
    if (positions != nullptr && at < positions->ints.size()) position = positions->ints[at];
    if (positions == nullptr && at < listed.size()) position = listed[at];
    if (position < 0) continue;
    if (modulo > 0) position %= modulo;
    std::int64_t block = shared ? 0 : user;
    if (pages != nullptr) {
      const std::int64_t columns = pages->spec.shape.back();
      if (position / c[2] >= columns) continue;
      block = pages->ints[static_cast<std::size_t>(user * columns + position / c[2])];
      position %= c[2];
    }
    if (block < 0 || block >= c[0] || position >= c[2]) continue;
    for (std::int64_t head = 0; head < c[1]; ++head)
      update.write((block * c[1] + head) * c[2] + position, head < in[2] ? user * in[2] + head : -1);
  }
  return update.take();
}

Checked<void> admit_cache(const BoundCall& call, std::span<const OutputSpec>, const Board&) {
  for (const std::string_view param : {"block_size", "num_kv_heads", "valid_seq_len_tensor"})
    if (call.passed(param)) return unsupported(std::string(param), "caches seen in another shape are not modelled");
  for (const TensorSlot& slot : call.tensors) {
    const bool rows = slot.param.starts_with("cache") || slot.param.starts_with("input");
    if (rows && slot.spec.shape.size() != 4)
      return unsupported(slot.param, "caches of a rank other than 4 are not modelled");
  }
  return {};
}

}  // namespace opwright::sim
