#include <algorithm>

#include "device/sim/heads.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  const Shape& shape = input.spec.shape;
  HostTensor out = copied_rows(job.outputs[0], [&](std::int64_t row, float* to) {
    for (std::int64_t head = 0; head < shape[1]; ++head) {
      const std::int64_t from = (row / shape[2] * shape[1] + head) * shape[2] + row % shape[2];
      const float* const source = input.floats.data() + from * shape[3];
      to = std::copy(source, source + shape[3], to);
    }
  });
  return std::vector{std::move(out)};
}

}  // namespace

extern const Kernel kNlpConcatHeadsKernel{.op = "ttnn.experimental.nlp_concat_heads", .run = run};

}  // namespace opwright::sim
