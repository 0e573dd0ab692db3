// The profiler report of a run: what the simulated device's clock says of its cases (exec/clock/profile_csv.h).
#pragma once

#include <cstdint>
#include <string>

#include "exec/clock/profile_csv.h"
#include "jobs/run_plan.h"

namespace opwright::jobs {

// A clock belongs to simulated devices: a usage error for any other.
Status check_profiled(const std::string& device);

struct RunProfile {
  std::string path;
  ProfileCsv::Counts counts;
  std::int64_t not_run = 0;  // cases that did not come to their call: refused, crashed, not reached
};
std::string words_of(const RunProfile& profile);

// Cases of run `uid` that ran, in the order of the plan: which worker was quicker makes no difference.
Result<RunProfile> profile_run(const std::string& path, const PlanOptions& options, RunPlan& plan,
                               const std::string& uid);

}  // namespace opwright::jobs
