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
#include "exec/aftermath.h"
#include "exec/attribution.h"
#include "exec/repetition.h"
#include "model/record_json.h"

namespace opwright {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int kTickMs = 100;
constexpr int kStartsInARow = 3;  // workers that never said hello: the device is not there
constexpr int kUnfitInARow = 2;   // cases with a bad canary: the machine, or the device, is not fit
constexpr double kResetSeconds = 600;
constexpr double kHistorySeconds = 20;     // of cases that are run again before a failed one
constexpr double kAftermathSeconds = 0.3;  // in which a process dies that does so after its answers

struct Slot {
  std::optional<WorkerProcess> worker;
  bool ready = false;  // its worker said hello
  std::deque<Task> tasks;
  bool running = false;
  bool begun = false;  // the worker said so of the case that runs
  Clock::time_point since, deadline;
  Stage stage = Stage::kStart;
  ProcessUsage at_start;
  std::optional<EndedCase> last;  // that this worker answered

  std::optional<Attribution> attribution;
  EndedCase failed;  // that is attributed

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
      if (std::ranges::none_of(slots_, &Slot::busy)) {
        OPWRIGHT_TRY(finish_workers());
        if (late_.empty()) return summary_;
        continue;
      }
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
      if (!slot.busy() && !late_.empty()) {
        EndedCase failed = std::move(late_.front());
        late_.pop_front();
        OPWRIGHT_TRY(attribute(slot, std::move(failed)));
      }
      if (!slot.busy() && !returned_.empty()) {
        slot.tasks.push_back(std::move(returned_.front()));
        returned_.pop_front();
      }
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
      slot.last.reset();
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
    slot.begun = false;
    if (!task.repeated) world_.started(number_of(slot), task.job);
    if (!slot.worker->send(to_json(order_of(task.job)))) return died(slot);
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
      slot.begun = true;
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
    if (const json::Node* late = (*root)->find("late")) {
      const auto what = parse_aftermath(*late);
      if (!what || !slot.last) return garbage(slot, line);
      slot.begun = true;  // the worker goes on with its case
      return too_late(slot, *what, past_of(slot, true));
    }
    const json::Node* answer = (*root)->find("record");
    if (answer == nullptr || !slot.running || !slot.ready) return garbage(slot, line);
    auto found = parse_record(*answer);
    const CaseRecord& planned = slot.tasks.front().job.record;
    if (!found || found->index != planned.index) return garbage(slot, line);
    CaseRecord record = joined(planned, *std::move(found));
    const ProcessUsage now = slot.worker->usage();
    const std::int64_t growth = now.resident - slot.at_start.resident;
    if (growth > slot.worker->most_growth) {
      slot.worker->most_growth = growth;
      slot.worker->grower = cut_text(record.line, 160);
    }
    slot.worker->resident = now.resident;
    const Task& task = slot.tasks.front();
    if (task.repeated && task.counts && slot.failed.late) {
      // The answer is not the end of it.
      const auto what = farewell(*slot.worker, kAftermathSeconds);
      slot.worker.reset();
      if (what && !Attribution::wanted(record.outcome)) {
        apply(*what, record);
        slot.stage = Stage::kEnd;
      }
      return case_ended(slot, std::move(record), slot.stage, Past{});
    }
    slot.last.reset();
    if (!task.repeated) slot.last = EndedCase{record, task.line, Stage::kEnd, slot.at_start.resident, {}, true};
    WorkerProcess::Ran ran{task.line, record.wall_seconds};
    OPWRIGHT_TRY(case_ended(slot, std::move(record), slot.stage));
    slot.worker->remember(std::move(ran));
    // Freed memory stays with a worker. One that keeps more than its share has served its time.
    const auto share = options_.worker_bytes / static_cast<std::int64_t>(slots_.size());
    if (slot.worker && options_.worker_bytes > 0 && slot.worker->resident > share && !slot.running) {
      slot.worker.reset();
      ++summary_.recycled;
    }
    return {};
  }

  // What the slot's process did before its last case: the one that runs, or (`answered`) the one that it answered.
  static Past past_of(const Slot& slot, bool answered) {
    Past past;
    if (!slot.worker) return past;
    past.grower = slot.worker->grower;
    past.cases = slot.worker->cases - (answered ? 1 : 0);
    double seconds = 0;
    for (const WorkerProcess::Ran& ran : slot.worker->history) {
      if (std::exchange(answered, false)) continue;
      seconds += ran.seconds;
      if (seconds > kHistorySeconds && !past.history.empty()) break;
      past.history.push_back(ran.line);
    }
    return past;
  }

  static void apply(const Aftermath& what, CaseRecord& record) {
    record.outcome = what.outcome;
    record.reason = what.reason;
    if (what.device_fault) record.blame = Blame::kDevice;
  }

  // Whether what the slot's worker does now belongs to the case that it has answered: it has not begun another.
  static bool after_answer(const Slot& slot) {
    return slot.last && (!slot.running || (!slot.begun && !slot.tasks.front().repeated));
  }

  // The last case of the slot's worker was answered, and then this happened.
  Status too_late(Slot& slot, const Aftermath& what, Past past) {
    if (slot.running && !slot.begun) {  // somebody else's worker may have it
      returned_.push_back(std::move(slot.tasks.front()));
      slot.tasks.pop_front();
      slot.running = false;
    }
    EndedCase failed = *std::exchange(slot.last, std::nullopt);
    if (Attribution::wanted(failed.record.outcome)) {  // it has its blame, or will have it
      world_.note(fmt::format("{}: {}", failed.record.line, what.reason));
      return {};
    }
    apply(what, failed.record);
    failed.past = std::move(past);
    OPWRIGHT_TRY(world_.keep(failed.record));
    if (options_.attribute && !failed.record.suite.starts_with("xfail"))
      late_.push_back(std::move(failed));
    else
      world_.corrected(failed.record);
    return {};
  }

  Status finish_workers() {
    for (Slot& slot : slots_) {
      if (!slot.worker) continue;
      Past past = past_of(slot, true);
      const auto what = slot.ready && slot.last ? farewell(*slot.worker) : std::nullopt;
      slot.worker.reset();
      if (what) OPWRIGHT_TRY(too_late(slot, *what, std::move(past)));
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
    Past past = past_of(slot, false);
    slot.worker.reset();
    if (++starts_in_a_row_ >= kStartsInARow && summary_.stopped.empty())
      summary_.stopped = "the device does not start any more: " + problem;
    if (!slot.running) return {};
    return case_ended(slot, std::move(record), Stage::kStart, std::move(past));
  }

  Status garbage(Slot& slot, const std::string& line) {
    if (!slot.ready)
      return not_started(slot, fmt::format("the worker wrote what is no hello: {}", cut_text(line, 120)));
    const bool late = after_answer(slot);
    CaseRecord record;
    if (slot.running) record = lost_record(slot, Outcome::kHarnessError, no_answer(line));
    Past past = past_of(slot, late);
    slot.worker.reset();
    if (late) return too_late(slot, garbage_after(line), std::move(past));
    if (!slot.running) return {};
    return case_ended(slot, std::move(record), slot.stage, std::move(past));
  }

  Status died(Slot& slot) {
    const bool hello = slot.ready;
    const bool late = hello && after_answer(slot);
    CaseRecord record;
    if (slot.running) record = lost_record(slot, Outcome::kCrashed, "");
    Past past = past_of(slot, late);
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
    const std::string last_words = said.empty() ? "" : ": " + cut_text(said, 600);
    if (late) {
      ++summary_.died;
      return too_late(
          slot,
          {Outcome::kCrashed, fmt::format("its process ended with {} after its answer{}", how, last_words), false},
          std::move(past));
    }
    if (!slot.running) return {};
    ++summary_.died;
    record.reason = fmt::format("its process ended with {} in the {}{}", how, name_of(slot.stage), last_words);
    return case_ended(slot, std::move(record), slot.stage, std::move(past));
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
    Past past = past_of(slot, false);
    slot.worker->bury(true);
    slot.worker.reset();
    return case_ended(slot, std::move(record), slot.stage, std::move(past));
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

  // `past` where the slot's worker is gone.
  Status case_ended(Slot& slot, CaseRecord record, Stage stage, std::optional<Past> past = std::nullopt) {
    Task task = std::move(slot.tasks.front());
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
    if (!past) past = past_of(slot, false);
    return attribute(slot, {std::move(record), std::move(task.line), stage, slot.at_start.resident, *std::move(past)});
  }

  Status attribute(Slot& slot, EndedCase failed) {
    OPWRIGHT_TRY_ASSIGN(FailureFacts facts, facts_of(failed, options_.canaries));
    facts.resident_limit = options_.worker_bytes;
    slot.attribution.emplace(std::move(facts));
    slot.failed = std::move(failed);
    return next_step(slot);
  }

  Status next_step(Slot& slot) {
    const auto step = slot.attribution->next();
    if (!step) {
      CaseRecord record = std::move(slot.failed.record);
      record.blame = slot.attribution->blame();
      record.evidence = slot.attribution->evidence();
      record.attempts = slot.attribution->attempts();
      unfit_in_a_row_ = slot.attribution->canary_failed() ? unfit_in_a_row_ + 1 : 0;
      slot.attribution.reset();
      OPWRIGHT_TRY(world_.keep(record));
      if (unfit_in_a_row_ >= kUnfitInARow && summary_.stopped.empty())
        summary_.stopped = fmt::format("the {} is not fit: {}", name_of(record.blame), record.evidence);
      if (slot.failed.late)
        world_.corrected(record);
      else
        world_.ended(number_of(slot), record);
      return {};
    }
    world_.step(number_of(slot), words_of(*step));
    OPWRIGHT_TRY_ASSIGN(slot.tasks, tasks_of(*step, slot.failed, options_.canaries));
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
  std::deque<EndedCase> late_;  // failed after their answers, and are not attributed yet
  std::deque<Task> returned_;   // sent to workers that died before they began
};

}  // namespace

Result<RunnerSummary> run_cases(const RunnerOptions& options, const RunnerWorld& world) {
  return Runner(options, world).run();
}

}  // namespace opwright
