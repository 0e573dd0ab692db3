#include "exec/runner.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/secrets.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "exec/runner_state.h"

namespace opwright {
namespace {

constexpr int kTickMs = 100;
constexpr double kResetSeconds = 600;

}  // namespace

Runner::Runner(const RunnerOptions& options, const RunnerWorld& world) : options_(options), world_(world) {
  slots_.resize(static_cast<std::size_t>(std::max(1, options.jobs)));
}

Result<RunnerSummary> Runner::run() {
  for (;;) {
    const int interrupts = options_.interrupts();
    if (interrupts > 0) summary_.interrupted = true;
    if (interrupts > 1) return summary_;
    if (options_.deadline && !summary_.time_over && Clock::now() >= *options_.deadline) leave_what_waits();
    if (options_.cut_off && Clock::now() >= *options_.cut_off) {
      summary_.cut_off = std::ranges::count_if(slots_, &Slot::running);
      return summary_;
    }
    OPWRIGHT_TRY(fill_slots());
    if (std::ranges::none_of(slots_, &Slot::busy)) {
      OPWRIGHT_TRY(finish_workers());
      if (!late_.empty()) continue;
      if (!summary_.interrupted && !summary_.time_over) OPWRIGHT_TRY(give_up_postponed());
      summary_.worker_seconds = Seconds(Clock::now() - begun_).count() * static_cast<double>(slots_.size());
      return summary_;
    }
    OPWRIGHT_TRY(wait());
    OPWRIGHT_TRY(check_limits());
    world_.tick();
  }
}

Status Runner::fill_slots() {
  bool none_now = false;
  for (Slot& slot : slots_) {
    if (!slot.busy() && !late_.empty()) {
      EndedCase failed = std::move(late_.front());
      late_.pop_front();
      OPWRIGHT_TRY(attribute(slot, std::move(failed)));
    }
    if (!slot.busy() && !postponed_.empty() && !summary_.interrupted) OPWRIGHT_TRY(repeat_postponed(slot));
    if (!slot.busy() && !returned_.empty()) {
      slot.tasks.push_back(std::move(returned_.front()));
      returned_.pop_front();
    }
    if (!slot.busy() && handing_out() && !none_now) {
      OPWRIGHT_TRY_ASSIGN(auto line, world_.next());
      if (line) {
        OPWRIGHT_TRY_ASSIGN(Job job, parse_job(*line));
        const bool fresh = job.fresh;
        slot.tasks.push_back({std::move(*line), std::move(job), fresh});
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

Status Runner::start_task(Slot& slot) {
  Task& task = slot.tasks.front();
  slot.taken = Clock::now();
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

Status Runner::send_task(Slot& slot) {
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

Status Runner::wait() {
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

Status Runner::finish_workers() {
  for (Slot& slot : slots_) {
    if (!slot.worker) continue;
    Past past = past_of(slot, true);
    const auto what = slot.ready && slot.last ? farewell(*slot.worker) : std::nullopt;
    slot.worker.reset();
    if (what) OPWRIGHT_TRY(too_late(slot, *what, std::move(past)));
  }
  return {};
}

Status Runner::check_limits() {
  const auto now = Clock::now();
  for (Slot& slot : slots_) {
    if (!slot.running || !slot.worker) continue;
    if (now >= slot.deadline) {
      if (!slot.ready) {
        OPWRIGHT_TRY(
            not_started(slot, fmt::format("a worker did not say hello within {} s{}", options_.start_seconds,
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

void Runner::leave_what_waits() {
  summary_.time_over = true;
  late_.clear();
  returned_.clear();
  for (Slot& slot : slots_) {
    if (!slot.attribution && (slot.ready || !slot.running)) continue;  // a case may end
    if (slot.attribution && !slot.failed.told && !slot.failed.late) world_.ended(number_of(slot), slot.failed.record);
    slot.attribution.reset();
    slot.tasks.clear();
    slot.running = false;
    slot.last.reset();
    slot.worker.reset();
  }
}

Status Runner::stop(Slot& slot, Outcome outcome, std::string reason) {
  CaseRecord record = lost_record(slot, outcome, std::move(reason));
  Past past = past_of(slot, false);
  slot.worker->bury(true);
  slot.worker.reset();
  return case_ended(slot, std::move(record), slot.stage, std::move(past));
}

Status Runner::reset() {
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

Result<RunnerSummary> run_cases(const RunnerOptions& options, const RunnerWorld& world) {
  return Runner(options, world).run();
}

}  // namespace opwright
