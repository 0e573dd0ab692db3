#include "device/sim/movement.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const bool skip, job.call.flag("skip_negative_entries", false));
  HostTensor out = same_order(*job.input("input_tensor"), job.outputs[0]);
  const bool with_sign = out.spec.dtype.value == DType::kInt32;
  for (std::int64_t& value : out.ints) {
    if (skip && value < 0) continue;
    const auto next = static_cast<std::uint32_t>(value + 1);
    value = with_sign ? static_cast<std::int64_t>(static_cast<std::int32_t>(next)) : static_cast<std::int64_t>(next);
  }
  return std::vector{std::move(out)};
}

}  // namespace

extern const Kernel kPlusOneKernel{.op = "ttnn.plus_one", .run = run};

}  // namespace opwright::sim
