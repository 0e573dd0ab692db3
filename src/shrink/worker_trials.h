// Cases in a worker process, one after the other, as whoever asks wants them: the runner with its limits on time and
// memory, which replaces a worker that died, and a place where its answers are waited for.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "base/result.h"
#include "exec/job.h"
#include "exec/runner.h"

namespace opwright::shrink {

class WorkerTrials {
 public:
  explicit WorkerTrials(RunnerOptions options);
  ~WorkerTrials();  // ends the worker
  WorkerTrials(const WorkerTrials&) = delete;
  WorkerTrials& operator=(const WorkerTrials&) = delete;

  // The jobs in their order in one process, a new one where the first of them asks for it. The record of the last.
  Result<CaseRecord> run(std::span<const Job> jobs);

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace opwright::shrink
