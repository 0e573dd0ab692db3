#include "device/sim/movement.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const auto dims, job.call.ints("dims"));
  const auto rank = static_cast<std::int64_t>(job.outputs[0].spec.shape.size());
  std::vector<std::size_t> order;
  for (const std::int64_t dim : dims.value_or(Shape{}))
    order.push_back(static_cast<std::size_t>(dim < 0 ? dim + rank : dim));
  return turn(job, order);
}

}  // namespace

extern const Kernel kPermuteKernel{.op = "ttnn.permute", .run = run};

}  // namespace opwright::sim
