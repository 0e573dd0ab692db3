// What workers and their runner are told, from what was asked for and what the machine has.
#pragma once

#include <cstdint>

#include "exec/runner.h"
#include "exec/worker.h"
#include "jobs/run_suite.h"

namespace opwright::jobs {

int machine_cores();

Result<PlanOptions> plan_options(const RunRequest& request, const RunWatcher& watcher);
std::int64_t memory_of(const RunRequest& request);
Result<WorkerSetup> worker_setup(const PlanOptions& plan, std::int64_t memory);
RunnerOptions runner_options(const RunRequest& request, const PlanOptions& plan, const WorkerSetup& setup,
                             std::size_t cases);

}  // namespace opwright::jobs
