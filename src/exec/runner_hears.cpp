// What workers say, and those that say nothing any more.
#include <fmt/format.h>

#include "base/words.h"
#include "exec/runner_state.h"
#include "model/record_json.h"

namespace opwright {
namespace {

constexpr int kStartsInARow = 3;           // workers that never said hello: the device is not there
constexpr double kAftermathSeconds = 0.3;  // in which a process dies that does so after its answers

}  // namespace

Status Runner::listen(Slot& slot) {
  std::vector<std::string> lines;
  const bool alive = slot.worker->take(lines);
  for (const std::string& line : lines) {
    OPWRIGHT_TRY(heard(slot, line));
    if (!slot.worker) return {};
  }
  if (!alive) return died(slot);
  return {};
}

Status Runner::heard(Slot& slot, const std::string& line) {
  const auto root = document_.parse(line);
  if (!root || !(*root)->is(json::Kind::kObject)) return garbage(slot, line);
  if (const json::Node* hello = (*root)->find("hello")) {
    if (slot.ready) return garbage(slot, line);
    // Results of one run are of one device.
    if (const std::string numerics(hello->string_field("numerics").value_or("")); greeted_ && numerics != numerics_)
      return not_started(slot, fmt::format("after a restart it says that it is another device: numerics {}, before {}",
                                           numerics, numerics_));
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

Status Runner::garbage(Slot& slot, const std::string& line) {
  if (!slot.ready) return not_started(slot, fmt::format("the worker wrote what is no hello: {}", cut_text(line, 120)));
  const bool late = after_answer(slot);
  CaseRecord record;
  if (slot.running) record = lost_record(slot, Outcome::kHarnessError, no_answer(line));
  Past past = past_of(slot, late);
  slot.worker.reset();
  if (late) return too_late(slot, garbage_after(line), std::move(past));
  if (!slot.running) return {};
  return case_ended(slot, std::move(record), slot.stage, std::move(past));
}

Status Runner::not_started(Slot& slot, std::string problem) {
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

Status Runner::died(Slot& slot) {
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
        slot, {Outcome::kCrashed, fmt::format("its process ended with {} after its answer{}", how, last_words), false},
        std::move(past));
  }
  if (!slot.running) return {};
  ++summary_.died;
  record.reason = fmt::format("its process ended with {} in the {}{}", how, name_of(slot.stage), last_words);
  return case_ended(slot, std::move(record), slot.stage, std::move(past));
}

CaseRecord Runner::lost_record(const Slot& slot, Outcome outcome, std::string reason) const {
  CaseRecord record = slot.tasks.front().job.record;
  record.outcome = outcome;
  record.reason = std::move(reason);
  record.wall_seconds = Seconds(Clock::now() - slot.since).count();
  record.host_bytes = slot.worker ? slot.worker->usage().resident : 0;
  return record;
}

}  // namespace opwright
