#include <algorithm>

#include "base/parallel.h"
#include "device/sim/rotary.h"

namespace opwright::sim {
namespace {

Checked<void> admit(const BoundCall& call, std::span<const OutputSpec>, const Board&) {
  for (const TensorSlot& slot : call.tensors)
    if (is_integer(slot.spec.dtype.value)) return unsupported(slot.param, "integers are not turned");
  return {};
}

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const HostTensor& x = *job.input("input_tensor");
  const HostTensor& cos = *job.input("cos_cache");
  const HostTensor& sin = *job.input("sin_cache");
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t token, job.call.integer("token_index", -1));
  HostTensor out = unwritten(job.outputs[0]);
  const Shape& shape = x.spec.shape;
  const std::int64_t width = row_length(out.spec.shape);
  const std::int64_t height = shape.size() < 2 ? 1 : shape[shape.size() - 2];
  const std::int64_t padded = round_up(height, 32);
  const std::int64_t known = cos.spec.shape[cos.spec.shape.size() - 2];
  const Dst dst = dst_of(rotary_compute(job.call).fp32_acc);
  parallel_for(0, out.size() / width, 256, [&](std::int64_t first, std::int64_t last) {
    std::vector<float> row(static_cast<std::size_t>(width));
    for (std::int64_t r = first; r < last; ++r) {
      const std::int64_t s = r % padded;
      const std::int64_t angle = token >= 0 ? token : s;
      if (s >= height || angle >= known) continue;
      const auto from = row_of(x, r / padded * height + s);
      std::fill(std::copy(from.begin(), from.end(), row.begin()), row.end(), 0.0F);
      rotate({.x = row, .cos = row_of(cos, angle), .sin = row_of(sin, angle)}, dst, out.spec.dtype.value,
             {out.floats.data() + r * width, static_cast<std::size_t>(width)});
    }
  });
  return std::vector{std::move(out)};
}

}  // namespace

extern const Kernel kRotaryEmbeddingKernel{.op = "ttnn.experimental.rotary_embedding", .admit = admit, .run = run};

}  // namespace opwright::sim
