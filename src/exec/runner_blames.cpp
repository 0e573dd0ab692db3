// What the end of a case means, and who a failure belongs to.
#include <fmt/format.h>

#include <utility>

#include "exec/runner_state.h"

namespace opwright {
namespace {

constexpr int kUnfitInARow = 2;         // cases with a bad canary: the machine, or the device, is not fit
constexpr double kHistorySeconds = 20;  // of cases that are run again before a failed one

}  // namespace

Past Runner::past_of(const Slot& slot, bool answered) {
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

void Runner::apply(const Aftermath& what, CaseRecord& record) {
  record.outcome = what.outcome;
  record.reason = what.reason;
  if (what.device_fault) record.blame = Blame::kDevice;
}

bool Runner::after_answer(const Slot& slot) {
  return slot.last && (!slot.running || (!slot.begun && !slot.tasks.front().repeated));
}

Status Runner::too_late(Slot& slot, const Aftermath& what, Past past) {
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

Status Runner::case_ended(Slot& slot, CaseRecord record, Stage stage, std::optional<Past> past) {
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

Status Runner::attribute(Slot& slot, EndedCase failed) {
  OPWRIGHT_TRY_ASSIGN(FailureFacts facts, facts_of(failed, options_.canaries));
  facts.resident_limit = options_.worker_bytes;
  slot.attribution.emplace(std::move(facts));
  slot.failed = std::move(failed);
  return next_step(slot);
}

Status Runner::next_step(Slot& slot) {
  const auto step = slot.attribution->next();
  if (!step) {
    CaseRecord record = std::move(slot.failed.record);
    record.blame = slot.attribution->blame();
    if (!record.evidence.empty()) record.evidence += "; ";
    record.evidence += slot.attribution->evidence();
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

}  // namespace opwright
