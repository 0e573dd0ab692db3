// The timed part of a run with --perf: cases that passed, or that a device without numbers took, again and again, one
// at a time in one worker.
//
// Iterations come in rounds: in each all cases have a part of theirs, in another order. So a machine that gets slower
// with time is slow to all of them alike, and rounds tell how much times differ that lie minutes apart. Before each
// round a canary listens whether the machine is quiet.
#pragma once

#include <cstdint>
#include <string>

#include "exec/noise_canary.h"
#include "exec/runner.h"
#include "jobs/run_suite.h"
#include "store/results.h"

namespace opwright::jobs {

// Times are written into the results of the run. Busy machines end it without any, unless the request says otherwise.
Result<TimedCases> time_cases(const RunRequest& request, const PlanOptions& options, RunPlan& plan,
                              const std::string& uid, store::ResultsWriter& results, const RunWatcher& watcher);

}  // namespace opwright::jobs
