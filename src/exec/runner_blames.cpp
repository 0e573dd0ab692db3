// What the end of a case means, and who a failure belongs to.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/words.h"
#include "exec/runner_state.h"

namespace opwright {
namespace {

constexpr int kUnfitInARow = 2;         // cases with a bad canary: the machine, or the device, is not fit
constexpr double kHistorySeconds = 20;  // of cases that are run again before a failed one

// Repetitions have a tenth of the time of all workers. In a short run that would be nothing, so they may begin until
// they have had half a minute; and one that has begun goes on for a while.
constexpr double kRepeatingShare = 0.1;
constexpr double kRepeatingBegins = 30;
constexpr double kRepeatingEnds = 120;

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
    summary_.repeated_seconds += Seconds(Clock::now() - slot.taken).count();
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
  EndedCase failed{std::move(record), std::move(task.line), stage, slot.at_start.resident, *std::move(past)};
  return options_.attribute_all ? attribute(slot, std::move(failed)) : blame_once(slot, std::move(failed));
}

double Runner::repeating_allowed() const {
  return kRepeatingShare * Seconds(Clock::now() - begun_).count() * static_cast<double>(slots_.size());
}

bool Runner::may_repeat() const {
  double begins = kRepeatingBegins;
  if (options_.deadline) begins = std::min(begins, kRepeatingShare * Seconds(*options_.deadline - begun_).count());
  return summary_.repeated_seconds < std::max(begins, repeating_allowed());
}

Status Runner::share(EndedCase failed) {
  shared_.share(failed.record);
  ++summary_.shared;
  return world_.keep(failed.record);
}

Status Runner::blame_once(Slot& slot, EndedCase failed) {
  const SharedBlame::Way way = shared_.way_of(failed.record);
  if (summary_.interrupted && way != SharedBlame::Way::kShare) {  // whoever resumes the run repeats it
    world_.ended(number_of(slot), failed.record);
    return {};
  }
  if (way == SharedBlame::Way::kRepeat && may_repeat()) return attribute(slot, std::move(failed));
  if (way == SharedBlame::Way::kShare) {
    shared_.share(failed.record);
    ++summary_.shared;
    OPWRIGHT_TRY(world_.keep(failed.record));
    world_.ended(number_of(slot), failed.record);
    return {};
  }
  world_.ended(number_of(slot), failed.record);
  failed.told = true;
  if (way == SharedBlame::Way::kWait)
    shared_.wait(std::move(failed));
  else
    postponed_.push_back(std::move(failed));
  return {};
}

Status Runner::settle(const CaseRecord& repeated) {
  auto [waiting, shares] = shared_.end(repeated);
  std::int64_t others = 0;
  for (EndedCase& failed : waiting) {
    if (!shares) {
      postponed_.push_front(std::move(failed));
      continue;
    }
    OPWRIGHT_TRY(share(std::move(failed)));
    ++others;
  }
  if (others > 0) world_.shared(repeated, others);
  return {};
}

Status Runner::repeat_postponed(Slot& slot) {
  EndedCase& failed = postponed_.front();
  const SharedBlame::Way way = shared_.way_of(failed.record);
  if (way == SharedBlame::Way::kRepeat && (!may_repeat() || !world_.again(failed.record))) return {};
  EndedCase taken = std::move(failed);
  postponed_.pop_front();
  if (way == SharedBlame::Way::kShare) return share(std::move(taken));
  if (way == SharedBlame::Way::kRepeat) return attribute(slot, std::move(taken));
  shared_.wait(std::move(taken));
  return {};
}

Status Runner::give_up_postponed() {
  for (EndedCase& failed : postponed_) {
    if (shared_.way_of(failed.record) == SharedBlame::Way::kShare) {
      OPWRIGHT_TRY(share(std::move(failed)));
      continue;
    }
    if (!failed.record.evidence.empty()) failed.record.evidence += "; ";
    failed.record.evidence += fmt::format(
        "not repeated: repetitions have had their {:.0f} % of the run's time (--attribute all repeats every failure)",
        100 * kRepeatingShare);
    ++summary_.not_repeated;
    OPWRIGHT_TRY(world_.keep(failed.record));
  }
  postponed_.clear();
  return {};
}

Status Runner::attribute(Slot& slot, EndedCase failed) {
  if (!options_.attribute_all) shared_.begin(failed.record);
  OPWRIGHT_TRY_ASSIGN(FailureFacts facts, facts_of(failed, options_.canaries));
  facts.resident_limit = options_.worker_bytes;
  slot.attribution.emplace(std::move(facts));
  slot.failed = std::move(failed);
  return next_step(slot);
}

Status Runner::next_step(Slot& slot) {
  const auto step = slot.attribution->next();
  const bool cut_short =
      step && !options_.attribute_all && summary_.repeated_seconds > std::max(kRepeatingEnds, repeating_allowed());
  if (!step || cut_short) {
    CaseRecord record = std::move(slot.failed.record);
    record.blame = slot.attribution->blame();
    if (!record.evidence.empty()) record.evidence += "; ";
    record.evidence += cut_short ? fmt::format(
                                       "{} and then no more: repetitions have had their {:.0f} % of the run's time "
                                       "(--attribute all)",
                                       plural(slot.attribution->attempts() - 1, "repetition"), 100 * kRepeatingShare)
                                 : slot.attribution->evidence();
    record.attempts = slot.attribution->attempts();
    unfit_in_a_row_ = slot.attribution->canary_failed() ? unfit_in_a_row_ + 1 : 0;
    slot.attribution.reset();
    OPWRIGHT_TRY(world_.keep(record));
    if (unfit_in_a_row_ >= kUnfitInARow && summary_.stopped.empty())
      summary_.stopped = fmt::format("the {} is not fit: {}", name_of(record.blame), record.evidence);
    if (slot.failed.late)
      world_.corrected(record);
    else if (slot.failed.told)
      world_.over(record);
    else
      world_.ended(number_of(slot), record);
    if (slot.failed.told) world_.shared(record, 0);
    return options_.attribute_all ? Status() : settle(record);
  }
  world_.step(number_of(slot), words_of(*step));
  OPWRIGHT_TRY_ASSIGN(slot.tasks, tasks_of(*step, slot.failed, options_.canaries));
  return {};
}

}  // namespace opwright
