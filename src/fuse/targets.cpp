#include "fuse/targets.h"

#include <algorithm>

#include "dialect/ttnn/board_peaks.h"
#include "exec/clock/kernel_call.h"
#include "fuse/describe.h"

namespace opwright::fuse {

Targets modelled_targets(const Function& function, const ParameterSet& set, const Board& board) {
  Targets out;
  out.source = "clock";
  double engine_ns = 0;
  std::int64_t kernels = 0;
  for (const Function::Call& call : function.calls()) {
    if (call.does_nothing || call.carries) continue;
    const auto kernel = kernel_call(call.plan, board);
    if (!kernel) continue;  // no kernel is launched
    const auto work = work_of(*kernel);
    if (!work) {
      ++out.unmodelled;
      continue;
    }
    ++kernels;
    out.kernel_ns += kernel_ns(*work);
    engine_ns += work->engine_ns;
  }
  out.op_to_op_ns = static_cast<double>(std::max<std::int64_t>(0, kernels - 1)) * clock_table().op_to_op_ns;
  std::int64_t bytes = 0;
  for (const auto* list : {&set.inputs, &set.outputs})
    for (const TensorSpec& spec : *list)
      if (spec.memory && spec.memory->buffer.value == BufferType::kDram) bytes += device_bytes(spec);
  const double rate = peaks_of(board).dram_gb_per_s;  // bytes a ns
  out.roofline_ns = std::max(engine_ns, rate > 0 ? static_cast<double>(bytes) / rate : 0);
  return out;
}

}  // namespace opwright::fuse
