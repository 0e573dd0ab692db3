#include "exec/runner.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <memory>

#include "base/json_object.h"
#include "base/secrets.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "exec/attribution.h"
#include "model/record_json.h"

namespace opwright {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int kTickMs = 100;
constexpr int kStartsInARow = 3;  // workers that never said hello: the device is not there
constexpr int kUnfitInARow = 2;   // cases with a bad canary: the machine, or the device, is not fit
constexpr double kResetSeconds = 600;

struct Task {
  std::string line;
  Job job;
  bool fresh = false;     // in a process that has run nothing
  bool repeated = false;  // a step of an attribution
  bool counts = true;     // false: only there to run before the next one
};

struct Slot {
  std::optional<WorkerProcess> worker;
  bool ready = false;  // its worker said hello
  std::deque<Task> tasks;
  bool running = false;
  Clock::time_point since, deadline;
  Stage stage = Stage::kStart;
  ProcessUsage at_start;
  std::string predecessor;  // of the running case in its process

  std::optional<Attribution> attribution;
  CaseRecord failed;
  std::string failed_line, failed_predecessor;

  bool busy() const { return running || !tasks.empty() || attribution.has_value(); }
};

class Runner {
 public:
  Runner(const RunnerOptions& options, const RunnerWorld& world) : options_(options), world_(world) {
    slots_.resize(static_cast<std::size_t>(std::max(1, options.jobs)));
  }

  Result<RunnerSummary> run() {
    for (;;) {
      const int interrupts = options_.interrupts();
      if (interrupts > 0) summary_.interrupted = true;
      if (interrupts > 1) return summary_;
      OPWRIGHT_TRY(fill_slots());
      if (std::ranges::none_of(slots_, &Slot::busy)) return summary_;
      OPWRIGHT_TRY(wait());
      OPWRIGHT_TRY(check_limits());
      world_.tick();
    }
  }

 private:
  int number_of(const Slot& slot) const { return static_cast<int>(&slot - slots_.data()); }

  bool handing_out() const { return !summary_.interrupted && summary_.stopped.empty() && !dry_; }

  Status fill_slots() {
    bool none_now = false;
    for (Slot& slot : slots_) {
      if (!slot.busy() && handing_out() && !none_now) {
        OPWRIGHT_TRY_ASSIGN(auto line, world_.next());
        if (line) {
          OPWRIGHT_TRY_ASSIGN(Job job, parse_job(*line));
          slot.tasks.push_back({std::move(*line), std::move(job)});
        } else {
          // Nothing may start beside what runs; when nothing runs, nothing is left.
          none_now = true;
          if (std::ranges::none_of(slots_, &Slot::busy)) dry_ = true;
        }
      }
      if (!slot.running && !slot.tasks.empty()) OPWRIGHT_TRY(start_task(slot));
    }
    return {};
  }

  Status start_task(Slot& slot) {
    Task& task = slot.tasks.front();
    if (slot.worker && task.fresh && slot.worker->cases > 0) slot.worker.reset();
    if (!slot.worker) {
      OPWRIGHT_TRY_ASSIGN(slot.worker, WorkerProcess::start(options_.worker));
      ++summary_.workers;
      slot.ready = false;
    }
    slot.running = true;
    slot.since = Clock::now();
    slot.stage = Stage::kStart;
    if (!slot.ready) {
      slot.deadline = slot.since + std::chrono::duration_cast<Clock::duration>(Seconds(options_.start_seconds));
      return {};
    }
    return send_task(slot);
  }

  Status send_task(Slot& slot) {
    Task& task = slot.tasks.front();
    slot.since = Clock::now();
    slot.deadline = slot.since + std::chrono::duration_cast<Clock::duration>(Seconds(task.job.seconds));
    if (options_.cpu_seconds > 0 || slot.worker->resident == 0) slot.at_start = slot.worker->usage();
    slot.at_start.resident = std::max(slot.at_start.resident, slot.worker->resident);
    slot.predecessor = slot.worker->last_job;
    if (!task.repeated) world_.started(number_of(slot), task.job);
    if (!slot.worker->send(task.line)) return died(slot);
    return {};
  }

  Status wait() {
    std::vector<pollfd> waiting;
    std::vector<std::pair<Slot*, bool>> whose;  // bool: answers, else errors
    for (Slot& slot : slots_) {
      if (!slot.worker) continue;
      waiting.push_back({slot.worker->answers(), POLLIN, 0});
      whose.emplace_back(&slot, true);
      waiting.push_back({slot.worker->errors(), POLLIN, 0});
      whose.emplace_back(&slot, false);
    }
    if (options_.wake >= 0) waiting.push_back({options_.wake, POLLIN, 0});
    if (poll(waiting.data(), waiting.size(), kTickMs) < 0 && errno != EINTR)
      return fail(ErrorCode::kIo, "poll failed while waiting for workers");
    if (options_.wake >= 0 && waiting.back().revents != 0) {
      std::array<char, 64> taken;
      [[maybe_unused]] const ssize_t count = read(options_.wake, taken.data(), taken.size());
    }
    for (std::size_t i = 0; i < whose.size(); ++i) {
      if (waiting[i].revents == 0 || !whose[i].first->worker) continue;
      if (whose[i].second)
        OPWRIGHT_TRY(listen(*whose[i].first));
      else if (waiting[i].fd == whose[i].first->worker->errors())
        whose[i].first->worker->take_errors();
    }
    return {};
  }

  Status listen(Slot& slot) {
    std::vector<std::string> lines;
    const bool alive = slot.worker->take(lines);
    for (const std::string& line : lines) {
      OPWRIGHT_TRY(heard(slot, line));
      if (!slot.worker) return {};
    }
    if (!alive) return died(slot);
    return {};
  }

  Status heard(Slot& slot, const std::string& line) {
    const auto root = document_.parse(line);
    if (!root || !(*root)->is(json::Kind::kObject)) return garbage(slot, line);
    if (const json::Node* hello = (*root)->find("hello")) {
      if (slot.ready) return garbage(slot, line);
      // Results of one run are of one device.
      if (const std::string numerics(hello->string_field("numerics").value_or("")); greeted_ && numerics != numerics_)
        return not_started(
            slot, fmt::format("after a restart it says that it is another device: numerics {}, before {}", numerics,
                              numerics_));
      starts_in_a_row_ = 0;
      slot.ready = true;
      if (!greeted_) {
        numerics_ = hello->string_field("numerics").value_or("");
        OPWRIGHT_TRY(world_.hello(*hello));
      }
      greeted_ = true;
      if (slot.running) return send_task(slot);
      return {};
    }
    if (const auto problem = (*root)->string_field("cannot_start")) return not_started(slot, std::string(*problem));
    if (const auto stage = (*root)->string_field("stage")) {
      const auto parsed = parse_stage(*stage);
      if (!parsed || !slot.running) return garbage(slot, line);
      // While a device's program is started anew the clock of the case stands still, and another one runs.
      if (*parsed == Stage::kStart)
        slot.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(Seconds(options_.start_seconds));
      else if (slot.stage == Stage::kStart && slot.ready)
        slot.deadline =
            Clock::now() + std::chrono::duration_cast<Clock::duration>(Seconds(slot.tasks.front().job.seconds));
      slot.stage = *parsed;
      return {};
    }
    if ((*root)->find("beat") != nullptr) return {};
    const json::Node* answer = (*root)->find("record");
    if (answer == nullptr || !slot.running || !slot.ready) return garbage(slot, line);
    auto record = parse_record(*answer);
    if (!record || record->index != slot.tasks.front().job.record.index) return garbage(slot, line);
    slot.worker->last_job = slot.tasks.front().line;
    ++slot.worker->cases;
    const ProcessUsage now = slot.worker->usage();
    const std::int64_t growth = now.resident - slot.at_start.resident;
    if (growth > slot.worker->most_growth) {
      slot.worker->most_growth = growth;
      slot.worker->grower = cut_text(record->line, 160);
    }
    slot.worker->resident = now.resident;
    const Stage stage = slot.stage;
    OPWRIGHT_TRY(case_ended(slot, *std::move(record), stage));
    // Freed memory stays with a worker. One that keeps more than its share has served its time.
    const auto share = options_.worker_bytes / static_cast<std::int64_t>(slots_.size());
    if (slot.worker && options_.worker_bytes > 0 && slot.worker->resident > share && !slot.running) {
      slot.worker.reset();
      ++summary_.recycled;
    }
    return {};
  }

  // The record of a case that did not come back.
  CaseRecord lost_record(const Slot& slot, Outcome outcome, std::string reason) const {
    CaseRecord record = slot.tasks.front().job.record;
    record.outcome = outcome;
    record.reason = std::move(reason);
    record.wall_seconds = Seconds(Clock::now() - slot.since).count();
    record.host_bytes = slot.worker ? slot.worker->usage().resident : 0;
    return record;
  }

  // A worker that has no device. The first of a run means that there is no run; later the device is to blame, which
  // worked before: that costs a case, and in the end the rest of the run.
  Status not_started(Slot& slot, std::string problem) {
    if (!greeted_) return fail(ErrorCode::kUnsupported, std::move(problem));
    CaseRecord record;
    if (slot.running) record = lost_record(slot, Outcome::kDeviceError, problem);
    record.blame = Blame::kDevice;
    slot.worker.reset();
    if (++starts_in_a_row_ >= kStartsInARow && summary_.stopped.empty())
      summary_.stopped = "the device does not start any more: " + problem;
    if (!slot.running) return {};
    return case_ended(slot, std::move(record), Stage::kStart);
  }

  Status garbage(Slot& slot, const std::string& line) {
    if (!slot.ready)
      return not_started(slot, fmt::format("the worker wrote what is no hello: {}", cut_text(line, 120)));
    CaseRecord record;
    if (slot.running)
      record = lost_record(slot, Outcome::kHarnessError,
                           fmt::format("the worker wrote what is no answer: {}", cut_text(line, 120)));
    slot.worker.reset();
    if (!slot.running) return {};
    return case_ended(slot, std::move(record), slot.stage);
  }

  Status died(Slot& slot) {
    const bool hello = slot.ready;
    CaseRecord record;
    if (slot.running) record = lost_record(slot, Outcome::kCrashed, "");
    const std::string how = slot.worker->bury(false);
    const std::string said = slot.worker->error_tail();
    slot.worker.reset();
    if (!hello) {
      if (starts_in_a_row_ + 1 >= kStartsInARow)
        return not_started(
            slot, fmt::format("workers end before they say hello ({}){}", how, said.empty() ? "" : ":\n" + said));
      ++starts_in_a_row_;
      slot.running = false;  // the task stays, another worker gets it
      return {};
    }
    if (!slot.running) return {};
    ++summary_.died;
    record.reason = fmt::format("its process ended with {} in the {}{}", how, name_of(slot.stage),
                                said.empty() ? "" : ": " + cut_text(said, 600));
    return case_ended(slot, std::move(record), slot.stage);
  }

  Status check_limits() {
    const auto now = Clock::now();
    for (Slot& slot : slots_) {
      if (!slot.running || !slot.worker) continue;
      if (now >= slot.deadline) {
        if (!slot.ready) {
          OPWRIGHT_TRY(not_started(
              slot, fmt::format("a worker did not say hello within {} s{}", options_.start_seconds,
                                slot.worker->error_tail().empty() ? "" : ":\n" + slot.worker->error_tail())));
          continue;
        }
        OPWRIGHT_TRY(
            stop(slot, Outcome::kTimedOut,
                 fmt::format("no answer within {} s, in the {}", slot.tasks.front().job.seconds, name_of(slot.stage))));
        ++summary_.hung;
        if (!options_.reset_command.empty()) OPWRIGHT_TRY(reset());
        continue;
      }
      if (!slot.ready || (options_.worker_bytes == 0 && options_.cpu_seconds == 0)) continue;
      const ProcessUsage usage = slot.worker->usage();
      if (options_.worker_bytes > 0 && usage.resident > options_.worker_bytes)
        OPWRIGHT_TRY(stop(slot, Outcome::kHostMemory,
                          fmt::format("its process held {}, {} are allowed", size_text(usage.resident),
                                      size_text(options_.worker_bytes))));
      else if (options_.cpu_seconds > 0 && usage.cpu_seconds - slot.at_start.cpu_seconds > options_.cpu_seconds)
        OPWRIGHT_TRY(
            stop(slot, Outcome::kTimedOut,
                 fmt::format("more than {} s of CPU time, in the {}", options_.cpu_seconds, name_of(slot.stage))));
    }
    return {};
  }

  Status stop(Slot& slot, Outcome outcome, std::string reason) {
    CaseRecord record = lost_record(slot, outcome, std::move(reason));
    const std::string grower = slot.worker->grower;
    slot.worker->bury(true);
    slot.worker.reset();
    return case_ended(slot, std::move(record), slot.stage, grower);
  }

  Status reset() {
    const auto began = Clock::now();
    world_.note("reset: " + masked(options_.reset_command));
    const auto ended = capture({"/bin/sh", "-c", options_.reset_command}, {.seconds = kResetSeconds});
    if (!ended || ended->status != 0)
      world_.note(fmt::format(
          "the reset command failed: {}",
          ended ? fmt::format("exit status {} {}", ended->status, cut_text(ended->err, 200)) : ended.error().message));
    for (Slot& slot : slots_) slot.deadline += Clock::now() - began;  // the others waited too
    return {};
  }

  Status case_ended(Slot& slot, CaseRecord record, Stage stage, const std::string& grower = "") {
    const Task task = std::move(slot.tasks.front());
    slot.tasks.pop_front();
    slot.running = false;
    if (task.repeated) {
      ++summary_.repetitions;
      if (!task.counts) return {};
      slot.attribution->report({record.outcome, stage, record.reason, record.blame == Blame::kDevice});
      return next_step(slot);
    }
    ++summary_.cases;
    OPWRIGHT_TRY(world_.keep(record));
    if (options_.fail_fast && is_failure(record.outcome)) summary_.stopped = "a case failed (--fail-fast)";
    const bool expected = record.suite.starts_with("xfail");
    if (!options_.attribute || expected || !Attribution::wanted(record.outcome)) {
      unfit_in_a_row_ = 0;
      world_.ended(number_of(slot), record);
      return {};
    }
    slot.failed = record;
    slot.failed_line = task.line;
    slot.failed_predecessor = slot.predecessor;
    FailureFacts facts;
    facts.stage = stage;
    facts.has_predecessor = !slot.predecessor.empty();
    facts.resident_before = slot.at_start.resident;
    facts.resident_limit = options_.worker_bytes;
    facts.grower = grower;
    facts.record = std::move(record);
    slot.attribution.emplace(std::move(facts));
    return next_step(slot);
  }

  Status next_step(Slot& slot) {
    const auto step = slot.attribution->next();
    if (!step) {
      CaseRecord record = std::move(slot.failed);
      record.blame = slot.attribution->blame();
      record.evidence = slot.attribution->evidence();
      record.attempts = slot.attribution->attempts();
      unfit_in_a_row_ = slot.attribution->canary_failed() ? unfit_in_a_row_ + 1 : 0;
      slot.attribution.reset();
      OPWRIGHT_TRY(world_.keep(record));
      if (unfit_in_a_row_ >= kUnfitInARow && summary_.stopped.empty())
        summary_.stopped = fmt::format("the {} is not fit: {}", name_of(record.blame), record.evidence);
      world_.ended(number_of(slot), record);
      return {};
    }
    const auto add = [&](const std::string& line, bool fresh, bool counts) -> Status {
      OPWRIGHT_TRY_ASSIGN(Job job, parse_job(line));
      slot.tasks.push_back({line, std::move(job), fresh, true, counts});
      return {};
    };
    switch (*step) {
      case Attribution::Step::kCanary:
        world_.step(number_of(slot), "canary");
        return add(options_.canary, true, true);
      case Attribution::Step::kAlone:
        world_.step(number_of(slot), "again, alone");
        return add(slot.failed_line, true, true);
      case Attribution::Step::kAfterPredecessor:
        world_.step(number_of(slot), "again, after the case before it");
        OPWRIGHT_TRY(add(slot.failed_predecessor, true, false));
        return add(slot.failed_line, false, true);
    }
    return {};
  }

  const RunnerOptions& options_;
  const RunnerWorld& world_;
  std::vector<Slot> slots_;
  json::Document document_;
  RunnerSummary summary_;
  bool dry_ = false;
  bool greeted_ = false;
  std::string numerics_;  // of the first hello
  int starts_in_a_row_ = 0;
  int unfit_in_a_row_ = 0;
};

}  // namespace

Result<RunnerSummary> run_cases(const RunnerOptions& options, const RunnerWorld& world) {
  return Runner(options, world).run();
}

}  // namespace opwright
