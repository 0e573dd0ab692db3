#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.h"
#include "device/sim/movement.h"

namespace opwright::sim {
namespace {

constexpr std::int64_t kRowsAtOnce = 64;

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const HostTensor& ids = *job.input("input_tensor");
  const HostTensor& weight = *job.input("weight");
  OutputSpec rows = job.outputs[0];
  rows.spec.dtype = weight.spec.dtype;
  HostTensor out = unwritten(rows);
  const std::int64_t width = row_length(rows.spec.shape);
  const std::int64_t known = width == 0 ? 0 : weight.size() / width;
  const std::int64_t count = width == 0 ? 0 : out.size() / width;
  if (count > ids.size()) return unsupported("input_tensor", "fewer ids than the output has rows");
  for (std::int64_t i = 0; i < count; ++i)
    if (const double id = ids.at(i); id < 0 || id >= static_cast<double>(known))
      return refuse(fmt::format("id {} is outside the {} rows of the weight", id, known), "input_tensor");
  parallel_for(0, count, kRowsAtOnce, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      std::copy_n(weight.floats.begin() + static_cast<std::int64_t>(ids.at(i)) * width, width,
                  out.floats.begin() + i * width);
  });
  return std::vector{convert(out, job.outputs[0])};
}

}  // namespace

extern const Kernel kEmbeddingKernel{.op = "ttnn.embedding", .run = run};

}  // namespace opwright::sim
