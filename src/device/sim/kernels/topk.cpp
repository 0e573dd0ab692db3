#include <algorithm>
#include <numeric>
#include <vector>

#include "base/parallel.h"
#include "device/sim/kernel.h"
#include "device/sim/pack.h"

namespace opwright::sim {
namespace {

// Values are compared, never computed with; the earlier of two equal ones comes first.
Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  const HostTensor* indices = job.input("indices_tensor");
  const Shape& shape = input.spec.shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t k, job.call.integer("k", 32));
  OPWRIGHT_CHECK_ASSIGN(std::int64_t dim, job.call.integer("dim", -1));
  OPWRIGHT_CHECK_ASSIGN(const bool largest, job.call.flag("largest", true));
  if (dim < 0) dim = std::max<std::int64_t>(dim + rank, 0);
  const std::int64_t count = rank == 0 ? 1 : shape[static_cast<std::size_t>(dim)];
  std::int64_t inner = 1;
  for (auto i = static_cast<std::size_t>(dim) + 1; i < shape.size(); ++i) inner *= shape[i];
  HostTensor values = unwritten(job.outputs[0]);
  HostTensor positions = unwritten(job.outputs[1]);
  const std::int64_t lines = values.floats.empty() ? 0 : input.size() / count;
  parallel_for(0, lines, 1, [&](std::int64_t first, std::int64_t last) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    for (std::int64_t line = first; line < last; ++line) {
      const std::int64_t base = line / inner * inner * count + line % inner;
      std::iota(order.begin(), order.end(), 0);
      const auto before = [&](std::int64_t a, std::int64_t b) {
        const float x = input.floats[static_cast<std::size_t>(base + a * inner)];
        const float y = input.floats[static_cast<std::size_t>(base + b * inner)];
        return x == y ? a < b : (largest ? x > y : x < y);
      };
      std::ranges::partial_sort(order, order.begin() + k, before);
      for (std::int64_t i = 0; i < k; ++i) {
        const auto from = static_cast<std::size_t>(base + order[static_cast<std::size_t>(i)] * inner);
        const auto to = static_cast<std::size_t>(line / inner * inner * k + i * inner + line % inner);
        values.floats[to] = input.floats[from];
        positions.ints[to] = indices == nullptr ? order[static_cast<std::size_t>(i)] : indices->ints[from];
      }
    }
  });
  pack(values.floats, row_length(values.spec.shape), values.spec.dtype.value, Dst::kBf16);
  return std::vector{std::move(values), std::move(positions)};
}

}  // namespace

extern const Kernel kTopkKernel{.op = "ttnn.topk", .run = run};

}  // namespace opwright::sim
