#include <algorithm>

#include "device/sim/heads.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  const HostTensor* offset = job.input("batch_offset");
  const std::int64_t first = offset == nullptr || offset->ints.empty() ? 0 : offset->ints[0];
  const std::int64_t width = input.spec.shape[3];
  std::int64_t before = 0;  // heads of the outputs that came first
  std::vector<HostTensor> outputs;
  for (const OutputSpec& output : job.outputs) {
    const std::int64_t heads = output.spec.shape[2];
    const std::int64_t dim = output.spec.shape[3];
    outputs.push_back(copied_rows(output, [&](std::int64_t row, float* to) {
      const std::int64_t user = std::clamp<std::int64_t>(first + row / heads, 0, input.spec.shape[2] - 1);
      const float* const source = input.floats.data() + user * width + (before + row % heads) * dim;
      std::copy(source, source + dim, to);
    }));
    before += heads;
  }
  return outputs;
}

}  // namespace

extern const Kernel kNlpCreateQkvHeadsDecodeKernel{.op = "ttnn.experimental.nlp_create_qkv_heads_decode", .run = run};

}  // namespace opwright::sim
