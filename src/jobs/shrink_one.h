// One failing case made smaller, in workers of its device.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exec/worker.h"
#include "jobs/shrink_failure.h"
#include "shrink/worker_trials.h"

namespace opwright::jobs {

struct ShrinkTask {
  std::string line;
  std::vector<std::string> history;  // lines of cases that ran before it; tried where it does not fail alone
  bool needs_history = false;        // … it is known to
  DataRecipe recipe;
  RunChoice choice;  // `device` is one that a worker opens as it is
};

// A worker with a device, started when it is needed and kept.
struct DeviceWorker {
  DeviceWorker(WorkerSetup given, RunnerOptions runner) : setup(std::move(given)), trials(std::move(runner)) {}
  WorkerSetup setup;  // files that the device's program needs live as long
  shrink::WorkerTrials trials;
};
Result<std::unique_ptr<DeviceWorker>> start_worker(const RunChoice& choice, const std::vector<std::string>& worker,
                                                   const ShrinkWatcher& watcher);

Result<ShrunkFailure> shrink_one(const ShrinkTask& task, shrink::WorkerTrials& workers, const shrink::Budget& budget,
                                 const ShrinkWatcher& watcher);

}  // namespace opwright::jobs
