#include "base/parallel.h"
#include "device/sim/rotary.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const HostTensor& x = *job.input("input_tensor");
  const HostTensor& cos = *job.input("cos_cache");
  const HostTensor& sin = *job.input("sin_cache");
  const HostTensor& matrix = *job.input("trans_mat");
  OPWRIGHT_CHECK_ASSIGN(const bool decode, job.call.flag("is_decode_mode", false));
  if (row_length(matrix.spec.shape) != 32 || x.spec.shape.size() != 4 || cos.spec.shape.size() != 4)
    return unsupported("trans_mat", "matrices narrower than a tile are not modelled");
  HostTensor out = unwritten(job.outputs[0]);
  const Shape& shape = x.spec.shape;
  const std::int64_t width = shape[3];
  const std::int64_t known = cos.spec.shape[2];
  const bool one_head = cos.spec.shape[1] == 1;
  const Dst dst = dst_of(rotary_compute(job.call).fp32_acc);
  parallel_for(0, shape[0] * shape[1] * shape[2], 256, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t r = first; r < last; ++r) {
      const std::int64_t head = r / shape[2] % shape[1];
      const std::int64_t s = r % shape[2];
      // In decode the second dimension is the user, and the first row of its angles counts for all heads.
      const std::int64_t angle = decode ? head * known : (one_head ? 0 : head * known) + s;
      if (!decode && s >= known) continue;  // behind the angles the kernel writes zeros
      rotate({.x = row_of(x, r), .cos = row_of(cos, angle), .sin = row_of(sin, angle), .matrix = matrix.floats.data()},
             dst, DType::kBfloat16, {out.floats.data() + r * width, static_cast<std::size_t>(width)});
    }
  });
  return std::vector{std::move(out)};
}

}  // namespace

extern const Kernel kRotaryEmbeddingLlamaKernel{.op = "ttnn.experimental.rotary_embedding_llama", .run = run};

}  // namespace opwright::sim
