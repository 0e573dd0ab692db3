#include <numeric>

#include "device/sim/movement.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const auto rank = static_cast<std::int64_t>(job.outputs[0].spec.shape.size());
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t first, job.call.integer("dim1", 0));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t second, job.call.integer("dim2", 0));
  std::vector<std::size_t> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto at = [&](std::int64_t dim) { return static_cast<std::size_t>(dim < 0 ? dim + rank : dim); };
  std::swap(order[at(first)], order[at(second)]);
  return turn(job, order);
}

}  // namespace

extern const Kernel kTransposeKernel{.op = "ttnn.transpose", .run = run};

}  // namespace opwright::sim
