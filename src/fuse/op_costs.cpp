#include "fuse/op_costs.h"

#include <algorithm>

#include "dialect/ttnn/board_peaks.h"
#include "exec/clock/kernel_call.h"
#include "fuse/describe.h"

namespace opwright::fuse {
namespace {

// L1 is about ten times as fast as DRAM, all cores together: what lies there costs a tenth to move.
constexpr double kL1Rate = 10;

bool in_dram(const TensorSpec& spec) { return !spec.memory || spec.memory->buffer.value == BufferType::kDram; }

}  // namespace

double OpCosts::gap_ns() const { return clock_table().op_to_op_ns; }
double OpCosts::dram_rate() const {
  const double rate = peaks_of(board_).dram_gb_per_s;
  return rate > 0 ? rate : chip_rates(Arch::kWormhole).modelled_dram;
}

const CallCosts& OpCosts::of(NodeIndex node) {
  const auto [place, is_new] = costs_.try_emplace(graph_[node].kind);
  if (is_new) place->second = find(node);
  return place->second;
}

CallCosts OpCosts::find(NodeIndex node) {
  CallCosts out;
  const replay::KnownCall& known = known_.of(graph_.kind(node).example);
  out.key.assign(known.config.key.begin(), known.config.key.end());
  for (const TensorSpec& spec : known.arguments) out.arguments.push_back(device_bytes(spec));
  for (const TensorSpec& spec : known.results) {
    out.results.push_back(device_bytes(spec));
    out.move_ns += 2 * static_cast<double>(out.results.back()) / (dram_rate() * (in_dram(spec) ? 1 : kL1Rate));
  }
  const std::string& op = graph_.op(node);
  out.is_heavy = op.find("linear") != std::string::npos || op.find("matmul") != std::string::npos ||
                 op.find("conv") != std::string::npos;
  out.is_attention = op.find("attention") != std::string::npos || op.find("flash") != std::string::npos;
  if (!known.plan) return out;
  const auto kernel = kernel_call(*known.plan, board_);
  if (!kernel) return out;
  if (const auto found = measured_.find(std::string(kernel->device_class)); found != measured_.end()) {
    out.kernel_ns = found->second;
    out.is_known = true;
  } else if (const auto work = work_of(*kernel)) {
    out.kernel_ns = kernel_ns(*work);
    out.is_known = true;
  }
  return out;
}

}  // namespace opwright::fuse
