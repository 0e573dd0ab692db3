#include "device/sim/movement.h"
#include "model/quantize.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  if (job.outputs[0].spec.storage.value != StorageType::kHost) return move_whole(job, "input_tensor");
  // Host tensors are converted by the host, which rounds in its own way.
  const HostTensor& input = *job.input("input_tensor");
  HostTensor out = unwritten(job.outputs[0]);
  for (std::size_t i = 0; i < static_cast<std::size_t>(out.size()); ++i) {
    const double value = input.at(static_cast<std::int64_t>(i));
    if (out.integer())
      out.ints[i] = static_cast<std::int64_t>(value);
    else
      out.floats[i] = static_cast<float>(value);
  }
  quantize(out);
  return std::vector{std::move(out)};
}

}  // namespace

extern const Kernel kTypecastKernel{.op = "ttnn.typecast", .run = run};

}  // namespace opwright::sim
