#include <limits>

#include "device/sim/eltwise.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  constexpr double kMost = std::numeric_limits<float>::max();
  const auto low = job.call.number("min", -kMost);
  if (!low) return refuse(low.error());
  const auto high = job.call.number("max", kMost);
  if (!high) return refuse(high.error());
  return run_unary(job,
                   UnaryCall{.op = Unary::kClamp, .params = {static_cast<float>(*low), static_cast<float>(*high)}});
}

}  // namespace

extern const Kernel kClampKernel{.op = "ttnn.clamp", .run = run};

}  // namespace opwright::sim
