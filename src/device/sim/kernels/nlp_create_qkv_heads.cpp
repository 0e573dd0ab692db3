#include <algorithm>

#include "device/sim/heads.h"
#include "device/sim/pack.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const HostTensor& q = *job.input("input");
  const HostTensor* kv = job.input("input_kv");
  OPWRIGHT_CHECK_ASSIGN(const bool transpose, job.call.flag("transpose_k_heads", true));
  OPWRIGHT_CHECK_ASSIGN(const bool tied, job.call.flag("kv_tied", false));
  const std::int64_t q_heads = job.outputs[0].spec.shape[1];
  const std::int64_t kv_heads = job.outputs[2].spec.shape[1];
  const std::int64_t dim = job.outputs[0].spec.shape[3];
  const std::int64_t parts = kv != nullptr ? q_heads : q_heads + (tied ? 1 : 2) * kv_heads;
  if (parts * dim != round_up(q.spec.shape[3], 32))
    return unsupported("num_heads", "heads that share a tile are not modelled");
  std::vector<HostTensor> outputs;
  for (std::size_t o = 0; o < 3; ++o) {
    const HostTensor& from = o > 0 && kv != nullptr ? *kv : q;
    const std::int64_t heads = o == 0 ? q_heads : kv_heads;
    const std::int64_t width = from.spec.shape[3];
    const std::int64_t sequence = from.spec.shape[2];
    std::int64_t base = o > 0 && kv == nullptr ? q_heads * dim : 0;
    if (o == 2 && !tied) base += kv_heads * dim;
    const bool turned = o == 1 && transpose;
    outputs.push_back(copied_rows(job.outputs[o], [&](std::int64_t row, float* to) {
      const std::int64_t inner = turned ? dim : sequence;
      const std::int64_t batch = row / (heads * inner);
      const std::int64_t column = base + row / inner % heads * dim;
      if (turned) {
        if (column + row % inner >= width) return;
        for (std::int64_t s = 0; s < sequence; ++s)
          to[s] = from.floats[static_cast<std::size_t>((batch * sequence + s) * width + column + row % inner)];
      } else {
        const float* const source = from.floats.data() + (batch * sequence + row % inner) * width + column;
        std::copy(source, source + std::clamp<std::int64_t>(width - column, 0, dim), to);
      }
    }));
    // Turned rows share their exponents anew.
    HostTensor& out = outputs.back();
    if (turned && is_block_float(out.spec.dtype.value) && !out.floats.empty())
      pack(out.floats, row_length(out.spec.shape), out.spec.dtype.value, Dst::kBf16);
  }
  return outputs;
}

}  // namespace

extern const Kernel kNlpCreateQkvHeadsKernel{.op = "ttnn.experimental.nlp_create_qkv_heads", .run = run};

}  // namespace opwright::sim
