#include "exec/time_case.h"

#include <cmath>

#include "exec/clock/kernel_call.h"
#include "exec/run_external.h"

namespace opwright {
namespace {

std::vector<std::int64_t> nanoseconds(const std::vector<double>& seconds) {
  std::vector<std::int64_t> out;
  for (const double s : seconds) out.push_back(std::max<std::int64_t>(1, std::llround(s * 1e9)));
  return out;
}

CasePerf modelled(const OpConfig& config, const Device& device) {
  CasePerf perf;
  perf.is_modelled = true;
  const Board& board = device.can().board;
  const auto plan = plan_call(config, board);
  if (!plan) {
    perf.refused = plan.error().message;
    return perf;
  }
  const auto seconds = modelled_kernel_seconds(*plan, board);
  if (seconds)
    perf.device.push_back(nanoseconds({*seconds}));
  else
    perf.refused =
        "the clock of the simulated device has no time for it: no kernel is launched, or an exchange between chips";
  return perf;
}

}  // namespace

PerfPlan one_round(const PerfPlan& plan, int round) {
  const auto share = [&](int all) {
    const int from = all * round / plan.rounds, to = all * (round + 1) / plan.rounds;
    return std::max(1, to - from);
  };
  PerfPlan out = plan;
  out.rounds = 1;
  out.device.measured = share(plan.device.measured);
  out.end_to_end.measured = share(plan.end_to_end.measured);
  return out;
}

CasePerf time_case(const OpConfig& config, Device& device, const RunOptions& options, const PerfPlan& plan,
                   const std::vector<HostTensor>* given) {
  if (!device.can().recorded_calls) {
    if (device.can().numerics != Numerics::kNone) return modelled(config, device);
    CasePerf perf;
    perf.refused = "the null device computes nothing, so it takes no time";
    return perf;
  }
  CasePerf perf;
  perf.trace = plan.trace;
  perf.program_cache = plan.program_cache;
  if (!device.can().perf.refusal.empty()) {
    perf.refused = device.can().perf.refusal;
    return perf;
  }
  const auto take = [&](const Iterations& how, bool device_time) -> std::optional<TimedRun> {
    const TimingOrder order{.warm_up = how.warm_up,
                            .iterations = how.measured,
                            .device_time = device_time,
                            .trace = plan.trace,
                            .program_cache = plan.program_cache};
    auto timed = time_external(config, device, options, order, given);
    if (timed) return *std::move(timed);
    perf.refused = timed.error().message;
    return std::nullopt;
  };
  const auto whole = take(plan.end_to_end, false);
  if (!whole) return perf;
  perf.end_to_end.push_back(nanoseconds(whole->seconds));
  if (!whole->host_seconds.empty()) perf.host.push_back(nanoseconds(whole->host_seconds));
  if (!device.can().perf.device_time) return perf;
  const auto chip = take(plan.device, true);
  if (chip) perf.device.push_back(nanoseconds(chip->device_seconds));
  return perf;
}

}  // namespace opwright
