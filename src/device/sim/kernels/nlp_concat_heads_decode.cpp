#include <algorithm>

#include "device/sim/heads.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  const Shape& shape = input.spec.shape;
  const std::int64_t dim = round_up(shape[3], 32);
  const std::int64_t heads = std::min(shape[2], job.outputs[0].spec.shape[3] / dim);
  const std::int64_t width = row_length(job.outputs[0].spec.shape);
  // Rows of users that are not there are zero.
  HostTensor out = copied_rows(job.outputs[0], [&](std::int64_t user, float* to) {
    std::fill(to, to + width, 0.0F);
    for (std::int64_t head = 0; user < shape[1] && head < heads; ++head) {
      const float* const source = input.floats.data() + (user * shape[2] + head) * shape[3];
      std::copy(source, source + shape[3], to + head * dim);
    }
  });
  return std::vector{std::move(out)};
}

}  // namespace

extern const Kernel kNlpConcatHeadsDecodeKernel{.op = "ttnn.experimental.nlp_concat_heads_decode", .run = run};

}  // namespace opwright::sim
