// How long a case takes: its call again and again, on the device that ran it. One round of a timed run: the others come
// after all other cases had theirs (jobs/time_run.h).
#pragma once

#include "device/device.h"
#include "exec/run_case.h"
#include "model/perf.h"

namespace opwright {

// Devices that are programs are asked; of a simulated one its clock tells, once, without running anything; the null
// device has no time. Iterations are those of one round. What a device cannot do is in CasePerf::refused.
// `given`: data that the caller has, as of run_external.
CasePerf time_case(const OpConfig& config, Device& device, const RunOptions& options, const PerfPlan& plan,
                   const std::vector<HostTensor>* given = nullptr);

// A share of the iterations for each round, none empty.
PerfPlan one_round(const PerfPlan& plan, int round);

}  // namespace opwright
