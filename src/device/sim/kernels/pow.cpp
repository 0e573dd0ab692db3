#include "device/sim/eltwise.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  if (job.input("exponent") != nullptr)
    return run_binary(job, {.op = Binary::kPow, .first = "input_tensor", .second = "exponent"});
  const auto exponent = job.call.number("exponent", 1);
  if (!exponent) return refuse(exponent.error());
  return run_unary(job, UnaryCall{.op = Unary::kPower, .params = {static_cast<float>(*exponent)}});
}

}  // namespace

extern const Kernel kPowKernel{.op = "ttnn.pow", .admit = admit_binary, .run = run};

}  // namespace opwright::sim
