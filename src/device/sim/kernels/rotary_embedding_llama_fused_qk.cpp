#include "base/parallel.h"
#include "device/sim/rotary.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const HostTensor& cos = *job.input("cos_cache");
  const HostTensor& sin = *job.input("sin_cache");
  const HostTensor& matrix = *job.input("trans_mat");
  if (row_length(matrix.spec.shape) != 32 || cos.spec.shape.size() != 4)
    return unsupported("trans_mat", "matrices narrower than a tile are not modelled");
  const Dst dst = dst_of(rotary_compute(job.call).fp32_acc);
  const std::int64_t known = cos.spec.shape[2];
  std::vector<HostTensor> outputs;
  std::int64_t before = 0;  // users of the tensors that came first
  for (const std::string_view param : {"q_input_tensor", "k_input_tensor"}) {
    const HostTensor& x = *job.input(param);
    if (x.spec.shape.size() != 4)
      return unsupported(std::string(param), "tensors of a rank other than 4 are not modelled");
    const std::int64_t heads = x.spec.shape[2];
    const std::int64_t width = x.spec.shape[3];
    HostTensor& out = outputs.emplace_back(unwritten(job.outputs[outputs.size()]));
    for (std::int64_t r = 0; r < x.spec.shape[1] * heads; ++r) {
      const std::int64_t angle = (before + r / heads) * known;
      rotate({.x = row_of(x, r), .cos = row_of(cos, angle), .sin = row_of(sin, angle), .matrix = matrix.floats.data()},
             dst, DType::kBfloat16, {out.floats.data() + r * width, static_cast<std::size_t>(width)});
    }
    before += x.spec.shape[1];
  }
  return outputs;
}

}  // namespace

extern const Kernel kRotaryEmbeddingLlamaFusedQkKernel{.op = "ttnn.experimental.rotary_embedding_llama_fused_qk",
                                                       .run = run};

}  // namespace opwright::sim
