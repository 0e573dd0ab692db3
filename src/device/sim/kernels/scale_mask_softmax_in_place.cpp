#include "device/sim/norm_rows.h"
#include "device/sim/softmax_rows.h"

namespace opwright::sim {
namespace {

Checked<void> admit(const BoundCall& call, std::span<const OutputSpec>, const Board&) {
  static constexpr std::string_view kParams[] = {"mask"};
  return admit_floats(call, kParams);
}

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const TensorSpec& input = job.input("input_tensor")->spec;
  OPWRIGHT_CHECK_ASSIGN(const bool stable, job.call.flag("numeric_stable", false));
  return run_softmax(job, input.shape.empty() ? 0 : input.shape.size() - 1,
                     softmax_mode(job.call, input.dtype.value, stable, job.board));
}

}  // namespace

extern const Kernel kScaleMaskSoftmaxInPlaceKernel{
    .op = "ttnn.scale_mask_softmax_in_place", .admit = admit, .run = run};

}  // namespace opwright::sim
