#include "exec/repetition.h"

namespace opwright {
namespace {

constexpr std::size_t kCanaries = 2;

std::vector<const Canary*> canaries_for(const EndedCase& failed, const std::vector<Canary>& canaries) {
  std::vector<const Canary*> chosen;
  for (const Canary& canary : canaries)
    if (canary.op != failed.record.op && chosen.size() < kCanaries) chosen.push_back(&canary);
  return chosen;
}

}  // namespace

Result<FailureFacts> facts_of(const EndedCase& failed, const std::vector<Canary>& canaries) {
  FailureFacts facts;
  facts.record = failed.record;
  facts.stage = failed.stage;
  for (const std::string& line : failed.past.history) {
    OPWRIGHT_TRY_ASSIGN(const Job job, parse_job(line));
    facts.history.push_back(job.record.line);
  }
  for (const Canary* canary : canaries_for(failed, canaries)) facts.canaries.push_back(canary->op);
  facts.ran_before = failed.past.cases;
  facts.resident_before = failed.resident;
  facts.grower = failed.past.grower;
  return facts;
}

Result<std::deque<Task>> tasks_of(const Attribution::Step& step, const EndedCase& failed,
                                  const std::vector<Canary>& canaries) {
  using Kind = Attribution::Step::Kind;
  std::deque<Task> tasks;
  const auto add = [&](const std::string& line, bool counts) -> Status {
    OPWRIGHT_TRY_ASSIGN(Job job, parse_job(line));
    tasks.push_back({line, std::move(job), tasks.empty(), true, counts});
    return {};
  };
  const auto canary = [&] { return canaries_for(failed, canaries).at(step.first)->line; };
  switch (step.kind) {
    case Kind::kCanary:
      OPWRIGHT_TRY(add(canary(), true));
      return tasks;
    case Kind::kAlone:
      break;
    case Kind::kAfter:
      for (std::size_t i = step.first + step.count; i-- > step.first;)
        OPWRIGHT_TRY(add(failed.past.history.at(i), false));
      break;
    case Kind::kAfterCanaries:
      for (std::size_t i = 0; i < step.count; ++i) OPWRIGHT_TRY(add(canary(), false));
      break;
  }
  OPWRIGHT_TRY(add(failed.line, true));
  return tasks;
}

std::string_view words_of(const Attribution::Step& step) {
  using Kind = Attribution::Step::Kind;
  switch (step.kind) {
    case Kind::kCanary:
      return "canary";
    case Kind::kAlone:
      return "again, alone";
    case Kind::kAfter:
      return step.count == 1 ? "again, after a case before it" : "again, after the cases before it";
    case Kind::kAfterCanaries:
      return "again, after other cases";
  }
  return "";
}

}  // namespace opwright
