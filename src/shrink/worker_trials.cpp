#include "shrink/worker_trials.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace opwright::shrink {

// The runner asks for the next case on a thread of its own, and waits there.
struct WorkerTrials::Shared {
  RunnerOptions options;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<std::string> job;  // to be run
  std::optional<CaseRecord> record;
  bool ended = false;  // nobody will ask for more
  std::optional<Error> error;
  std::thread thread;

  void serve() {
    RunnerWorld world;
    world.next = [this]() -> Result<std::optional<std::string>> {
      std::unique_lock lock(mutex);
      changed.wait(lock, [this] { return job.has_value() || ended; });
      return std::exchange(job, std::nullopt);
    };
    world.keep = [](const CaseRecord&) { return Status(); };
    world.ended = [this](int, const CaseRecord& answered) {
      const std::lock_guard lock(mutex);
      record = answered;
      changed.notify_all();
    };
    const auto summary = run_cases(options, world);
    const std::lock_guard lock(mutex);
    if (!summary)
      error = summary.error();
    else if (!ended)
      error = Error{ErrorCode::kUnsupported, summary->interrupted       ? "interrupted"
                                             : summary->stopped.empty() ? "the worker came to its end"
                                                                        : summary->stopped};
    changed.notify_all();
  }
};

WorkerTrials::WorkerTrials(RunnerOptions options) : shared_(std::make_unique<Shared>()) {
  shared_->options = std::move(options);
  shared_->options.jobs = 1;
  shared_->options.attribute = false;
  shared_->thread = std::thread([shared = shared_.get()] { shared->serve(); });
}

WorkerTrials::~WorkerTrials() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->ended = true;
  }
  shared_->changed.notify_all();
  shared_->thread.join();
}

Result<CaseRecord> WorkerTrials::run(std::span<const Job> jobs) {
  CaseRecord last;
  for (const Job& job : jobs) {
    std::unique_lock lock(shared_->mutex);
    if (shared_->error) return fail(*shared_->error);
    shared_->record.reset();
    shared_->job = to_json(job);
    shared_->changed.notify_all();
    shared_->changed.wait(lock, [this] { return shared_->record.has_value() || shared_->error.has_value(); });
    if (!shared_->record) return fail(*shared_->error);
    last = *std::move(shared_->record);
  }
  return last;
}

}  // namespace opwright::shrink
