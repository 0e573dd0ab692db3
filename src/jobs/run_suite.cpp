#include "jobs/run_suite.h"

#include <fmt/format.h>

#include <chrono>
#include <set>

#include "base/clock.h"
#include "base/json_object.h"
#include "base/process_identity.h"
#include "base/words.h"
#include "exec/attribution.h"
#include "exec/budget.h"
#include "exec/pace.h"
#include "exec/run_order.h"
#include "exec/seen_early.h"
#include "jobs/expected_failure.h"
#include "jobs/run_record.h"
#include "jobs/run_setup.h"
#include "jobs/time_run.h"
#include "store/run_life.h"
#include "store/store.h"

namespace opwright::jobs {
namespace {

// A run that is continued: its record, and what it has done already.
struct Before {
  RunRecord run;
  std::set<std::int64_t> done, stored;  // a failure that nobody was blamed for is stored, and not done
};

Result<Before> find_before(const RunRequest& request) {
  OPWRIGHT_TRY_ASSIGN(const auto reader, store::open_results(request.store, request.wait_ms));
  Before before;
  OPWRIGHT_TRY_ASSIGN(before.run, reader->find_run(request.resume));
  if (before.run.status == "complete") return before;
  if (before.run.status == "running")
    return fail(ErrorCode::kLocked, fmt::format("run {} is still running, as another process of this machine; wait for "
                                                "its end, or stop it",
                                                before.run.uid));
  // A failure that nobody was blamed for was interrupted while it was being repeated: it runs again.
  OPWRIGHT_TRY(reader->for_each(before.run.uid, [&](CaseRecord&& record) -> Status {
    before.stored.insert(record.index);
    if (!Attribution::wanted(record.outcome) || record.blame != Blame::kNobody || !request.attribute)
      before.done.insert(record.index);
    return {};
  }));
  return before;
}

// What the device says of itself belongs to the record, and which process runs it.
void add_facts(RunRecord& run, const json::Node& hello, const RunnerOptions& runner) {
  run.numerics = hello.string_field("numerics").value_or("");
  JsonObject versions;
  if (const json::Node* given = hello.find("versions"); given != nullptr && given->is(json::Kind::kObject))
    for (std::uint32_t i = 0; i < given->count; ++i) versions.add(given->fields[i].key, given->fields[i].value.text);
  run.facts = JsonObject()
                  .add("cores", std::int64_t{machine_cores()})
                  .add("memory", runner.worker_bytes)
                  .add("jobs", std::int64_t{runner.jobs})
                  .add_raw("versions", versions.text())
                  .add(store::kProcessFact, to_text(own_identity()))
                  .text();
}

// Calls it where there is one.
template <class Function, class... Arguments>
void tell(const Function& function, const Arguments&... arguments) {
  if (function) function(arguments...);
}

// A budget is wall time, from the beginning of all; who still runs then may go on for this share of it. With what
// ending takes, a tenth of the budget is the most that the whole is late.
constexpr double kOverBudget = 0.08;

// The part of a run that has workers.
class Course {
 public:
  using Clock = std::chrono::steady_clock;

  Course(RunPlan& plan, RunRecord& run, const Before* before, store::ResultsWriter& results, const RunWatcher& watcher,
         Clock::time_point began)
      : plan_(plan),
        run_(run),
        before_(before),
        results_(results),
        watcher_(watcher),
        began_(began),
        in_store_(plan.spool.size()),
        ended_(plan.spool.size()),
        seen_(plan.spool.cases(), plan.chosen) {
    if (before == nullptr) return;
    for (const std::int64_t index : before->stored) in_store_.at(static_cast<std::size_t>(index)) = true;
    stored_ = static_cast<std::int64_t>(before->stored.size());
  }

  Result<RunnerSummary> run(RunnerOptions runner) {
    std::vector<std::uint32_t> waiting;
    double seconds = 0;
    for (const std::uint32_t index : plan_.chosen) {
      if (before_ != nullptr && before_->done.contains(index)) continue;
      waiting.push_back(index);
      seconds += static_cast<double>(plan_.spool.cases()[index].seconds);
    }
    RunQueue queue(plan_.spool.cases(), std::move(waiting),
                   {.cap = runner.worker_bytes,
                    .jobs = runner.jobs,
                    .opening = plan_.opening,
                    .by_value = plan_.budget_seconds > 0 || plan_.in_plan_order});
    if (plan_.budget_seconds > 0) {
      runner.deadline = after(plan_.budget_seconds);
      runner.cut_off = after((1 + kOverBudget) * plan_.budget_seconds);
    }
    tell(watcher_.begins,
         RunSize{.total = static_cast<std::int64_t>(plan_.chosen.size()),
                 .done_before = before_ != nullptr ? static_cast<std::int64_t>(before_->done.size()) : 0,
                 .seconds = seconds,
                 .slots = runner.jobs});
    if (watcher_.stop) runner.interrupts = watcher_.stop;
    runner.wake = watcher_.wake;
    begun_ = before_ != nullptr;
    auto ran = run_cases(runner, world(queue, runner));
    if (ran) ran->time_over = plan_.budget_seconds > 0 && !ran->interrupted && stored_ < run_.planned;
    tell(watcher_.ended, ran ? &*ran : nullptr);
    const bool complete = ran && !ran->interrupted && ran->stopped.empty() && !ran->time_over;
    const Status ended = begun_ ? results_.end(run_.uid, complete ? "complete" : "interrupted", utc_now()) : Status();
    if (!ran) return fail(broken_off(ran.error()));
    if (!ended) return fail(broken_off(ended.error()));
    return *ran;
  }
  bool begun() const { return begun_; }

  // How early what was seen, and what a budget covered.
  std::string text(int workers, bool complete, double repeating) const {
    std::string text = seen_.text(seconds_since(began_), workers, complete, repeating);
    if (plan_.budget_seconds > 0)
      text += covered_text(coverage_of(plan_.spool.cases(), in_store_), plan_.spool, seconds_since(began_), 10,
                           plan_.weight_unit);
    return text;
  }

 private:
  Clock::time_point after(double seconds) const {
    return began_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }
  static double seconds_since(Clock::time_point then) {
    return std::chrono::duration<double>(Clock::now() - then).count();
  }
  // Whether a case can come to its end within the budget, at the speed that was seen.
  bool fits(const PlannedCase& one) const {
    return pace_.seconds(one.op, static_cast<double>(one.seconds)) <= plan_.budget_seconds - seconds_since(began_);
  }

  RunnerWorld world(RunQueue& queue, const RunnerOptions& runner) {
    RunnerWorld world;
    world.hello = [&](const json::Node& hello) -> Status {  // a run is one when a device answers
      add_facts(run_, hello, runner);
      if (before_ != nullptr) return results_.resume(run_.uid, run_.facts);
      OPWRIGHT_TRY(results_.begin(run_));
      begun_ = true;
      return {};
    };
    world.next = [&]() -> Result<std::optional<std::string>> {
      const auto index =
          plan_.budget_seconds > 0 ? queue.next([this](const PlannedCase& one) { return fits(one); }) : queue.next();
      if (!index) return std::optional<std::string>();
      OPWRIGHT_TRY_ASSIGN(std::string line, plan_.spool.read(*index));
      return std::optional<std::string>(std::move(line));
    };
    world.keep = [&](const CaseRecord& raw) -> Status {
      const CaseRecord record = as_expected(raw);
      OPWRIGHT_TRY(results_.add(run_.uid, record));
      // A failure comes again when its blame is known; and a resumed run may do one again.
      auto&& known = in_store_.at(static_cast<std::size_t>(record.index));
      if (!known) ++stored_;
      known = true;
      learn(raw);
      return {};
    };
    world.started = [&](int slot, const Job& job) {
      const auto& planned = plan_.spool.cases()[static_cast<std::size_t>(job.record.index)];
      tell(watcher_.case_started, slot, job.record.op, job.record.line, static_cast<double>(planned.seconds));
    };
    world.step = [&](int slot, std::string_view text) { tell(watcher_.step, slot, text); };
    world.ended = [&](int slot, const CaseRecord& raw) {
      queue.ended(static_cast<std::uint32_t>(raw.index));
      tell(watcher_.case_ended, slot, as_expected(raw));
    };
    world.again = [&](const CaseRecord& raw) { return queue.again(static_cast<std::uint32_t>(raw.index)); };
    world.over = [&](const CaseRecord& raw) { queue.ended(static_cast<std::uint32_t>(raw.index)); };
    world.shared = [&](const CaseRecord& raw, std::int64_t others) { tell(watcher_.blamed, as_expected(raw), others); };
    world.corrected = [&](const CaseRecord& raw) {
      const CaseRecord record = as_expected(raw);
      tell(watcher_.note, fmt::format("{} after all: {}: {}", name_of(record.outcome), record.line, record.reason));
    };
    world.tick = [&] { tell(watcher_.tick); };
    world.note = [&](const std::string& text) { tell(watcher_.note, text); };
    return world;
  }

  // The first word of a case's end: a failure comes again.
  void learn(const CaseRecord& record) {
    const auto index = static_cast<std::size_t>(record.index);
    if (ended_[index]) return;
    ended_[index] = true;
    const PlannedCase& planned = plan_.spool.cases()[index];
    seen_.ended(static_cast<std::uint32_t>(index), seconds_since(began_), record.wall_seconds);
    if (standing_of(record.outcome) != Standing::kNoAnswer)
      pace_.ended(planned.op, static_cast<double>(planned.seconds), record.wall_seconds);
  }

  // Why a run did not come to its end, and what is left of it.
  Error broken_off(const Error& why) const {
    if (!begun_) return {why.code, fmt::format("{}\nno case was run, and no run was stored", why.message)};
    return {why.code,
            fmt::format("{}\nthe run was broken off: {} of {} {} in the store; 'opwright run --resume --run {}' "
                        "goes on when that is mended",
                        why.message, grouped(stored_), plural(run_.planned, "case"), stored_ == 1 ? "is" : "are",
                        run_.uid)};
  }

  RunPlan& plan_;
  RunRecord& run_;
  const Before* before_;  // null: a new run
  store::ResultsWriter& results_;
  const RunWatcher& watcher_;
  Clock::time_point began_;
  std::vector<bool> in_store_, ended_;
  SeenEarly seen_;
  Pace pace_;
  std::int64_t stored_ = 0;
  bool begun_ = false;  // it is in the store
};

Result<report::Analysis> analyse(const RunRequest& request, const std::string& uid) {
  OPWRIGHT_TRY_ASSIGN(const auto reader, store::open_results(request.store, request.wait_ms));
  OPWRIGHT_TRY_ASSIGN(const RunRecord run, reader->find_run(uid));
  report::Analyser analyser(run, {.worst = 3});
  OPWRIGHT_TRY(reader->for_each(uid, [&](CaseRecord&& record) -> Status {
    analyser.add(record);
    return {};
  }));
  return analyser.finish();
}

}  // namespace

Result<RunReport> run_suite(const RunRequest& given, const RunWatcher& watcher) {
  const auto began = std::chrono::steady_clock::now();
  RunRequest request = given;
  RunReport report;
  std::optional<Before> before;
  if (!given.resume.empty()) {
    OPWRIGHT_TRY_ASSIGN(before, find_before(given));
    report.run = before->run;
    if (before->run.status == "complete") {
      report.end = RunReport::End::kNothingToResume;
      return report;
    }
    OPWRIGHT_TRY_ASSIGN(request.choice, resumed_choice(given.choice, before->run));
    tell(watcher.resumed, before->run);
  }
  OPWRIGHT_TRY_ASSIGN(const PlanOptions options, plan_options(request, watcher));
  if (!request.profile_csv.empty()) OPWRIGHT_TRY(check_profiled(options.device()));
  OPWRIGHT_TRY_ASSIGN(RunPlan plan, plan_run(options));
  report.plan = plan.summary;
  tell(watcher.planned, plan.summary);
  if (request.dry_run) {
    report.end = RunReport::End::kPlanned;
    return report;
  }
  if (plan.chosen.empty())
    return fail(
        ErrorCode::kNotFound,
        "no case to run: the store, the selector or --shard leaves none ('opwright vectors' shows what there is)");
  if (before && digest_of(before->run) != plan.digest)
    return fail(ErrorCode::kBadInput,
                fmt::format("run {} had other cases than the store gives now; start a new run", before->run.uid));
  OPWRIGHT_TRY_ASSIGN(const WorkerSetup setup, worker_setup(options, memory_of(request)));
  const RunnerOptions runner = runner_options(request, options, setup, plan.chosen.size());
  OPWRIGHT_TRY_ASSIGN(const auto results, store::open_results_writer(request.store, request.wait_ms,
                                                                     request.durable ? store::Durability::kEveryCommit
                                                                                     : store::Durability::kSoon));
  if (!before) report.run = new_run_record(request.choice, request.command, plan);
  Course course(plan, report.run, before ? &*before : nullptr, *results, watcher, began);
  OPWRIGHT_TRY_ASSIGN(report.ran, course.run(runner));
  const bool is_whole = !before && !report.ran.interrupted && !report.ran.time_over && report.ran.stopped.empty();
  report.course = course.text(runner.jobs, is_whole, report.ran.repeated_seconds);
  if (!course.begun()) {
    report.end = RunReport::End::kNotBegun;
    return report;
  }
  if (request.perf && !report.ran.interrupted && report.ran.stopped.empty()) {
    OPWRIGHT_TRY_ASSIGN(report.timed, time_cases(request, options, plan, report.run.uid, *results, watcher));
  }
  OPWRIGHT_TRY_ASSIGN(report.analysis, analyse(request, report.run.uid));
  if (!request.profile_csv.empty()) {
    OPWRIGHT_TRY_ASSIGN(report.profile, profile_run(request.profile_csv, options, plan, report.run.uid));
  }
  return report;
}

}  // namespace opwright::jobs
