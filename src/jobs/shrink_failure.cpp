#include "jobs/shrink_failure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/words.h"
#include "exec/case_line.h"
#include "exec/plan_call.h"
#include "exec/worker_process.h"
#include "jobs/device_program.h"
#include "jobs/look_at_results.h"
#include "jobs/run_record.h"
#include "jobs/shrink_one.h"
#include "model/case_name.h"
#include "ops/all_ops.h"
#include "select/evaluate.h"
#include "store/store.h"

namespace opwright::jobs {
namespace {

constexpr char kUsualDevice[] = "sim:n150";

// Failures of one cause: the one with the fewest elements is the shortest way.
struct Cause {
  shrink::FailureKind kind;
  CaseRecord record;
  std::int64_t alike = 0;
  std::string known_from;  // an earlier run that has it too
};

// Nobody here, and no program behind a name, would know it: that is no failure to make smaller.
Status check_operator(const OpConfig& config, const std::string& device) {
  if (is_device_program(device) || find_op(config.op) != nullptr) return {};
  const auto planned = plan_call(config, *find_board("n150"));
  return fail(ErrorCode::kNotFound, planned ? "nothing is known of operator " + config.op : planned.error().message);
}

// The device that a result of `sim` was on: each case has the board that it was traced on.
std::string device_of(const CaseRecord& record, const RunChoice& choice) {
  std::string device = choice.device.value_or("sim");
  if (device != "sim") return device;
  constexpr std::string_view kFlag = " --device sim:";
  const std::size_t at = record.repeat.rfind(kFlag);
  if (at == std::string::npos) return kUsualDevice;
  const std::size_t from = at + kFlag.size();
  return "sim:" + record.repeat.substr(from, std::min(record.repeat.find(' ', from), record.repeat.size()) - from);
}

bool is_stopped(const ShrinkWatcher& watcher) { return watcher.stop && watcher.stop() > 0; }

Result<RunChoice> choice_of(const ShrinkRequest& request, const RunRecord& run) {
  OPWRIGHT_TRY_ASSIGN(RunChoice choice, resumed_choice({}, run));
  if (request.choice.device) choice.device = request.choice.device;
  if (!request.choice.against.empty()) choice.against = request.choice.against;
  if (!request.choice.python.empty()) choice.python = request.choice.python;
  if (request.choice.timeouts.usual) choice.timeouts = request.choice.timeouts;
  if (request.choice.start_seconds) choice.start_seconds = request.choice.start_seconds;
  return choice;
}

bool is_asked_for(const CaseRecord& record, const ShrinkRequest& request) {
  const std::string_view id = std::string_view(request.case_id).substr(request.case_id.starts_with('@') ? 1 : 0);
  return id.empty() || is_named(record, request.case_id) || record.vector.starts_with(id) || record.key.starts_with(id);
}

// The failures of a run by their causes, in the order of the plan; and what ran before each.
struct RunFailures {
  std::vector<Cause> causes;
  std::vector<CaseRecord> all;  // of the run, with line and time alone
};

Result<RunFailures> failures_of(const ShrinkRequest& request, store::ResultsReader& reader, const RunRecord& run) {
  std::optional<select::Selector> selector;
  if (!request.choice.where.empty()) {
    OPWRIGHT_TRY_ASSIGN(selector, select::parse_selector(request.choice.where));
  }
  RunFailures out;
  std::map<shrink::FailureKind, std::size_t> known;
  std::int64_t total = 0;
  OPWRIGHT_TRY(reader.for_each(run.uid, [&](CaseRecord&& record) -> Status {
    ++total;
    CaseRecord& brief = out.all.emplace_back();
    brief.line = record.line;
    brief.started = record.started;
    brief.index = record.index;
    const auto kind = shrink::failure_of(record);
    if (!kind || !is_asked_for(record, request) || !request.filter.matches(record)) return {};
    if (selector) {
      OPWRIGHT_TRY_ASSIGN(const OpConfig config, parse_case(record.line));
      if (!select::matches(*selector, {.config = config})) return {};
    }
    const auto [found, is_new] = known.emplace(*kind, out.causes.size());
    if (is_new) out.causes.push_back({*kind, record, 0, ""});
    Cause& cause = out.causes[found->second];
    ++cause.alike;
    if (record.elements < cause.record.elements) cause.record = std::move(record);
    return {};
  }));
  if (out.causes.empty())
    return fail(ErrorCode::kNotFound,
                fmt::format("run {} has no failure{}: {} looked at; 'opwright results {}' shows them", run.uid,
                            request.case_id.empty() && request.filter.empty() && !selector ? "" : " that is asked for",
                            plural(total, "result"), run.uid));
  return out;
}

// Which of them earlier runs of the store have. The latest run is asked first: mostly it knows them all.
Status find_known(std::vector<Cause>& causes, store::ResultsReader& reader, const RunRecord& run) {
  OPWRIGHT_TRY_ASSIGN(std::vector<RunRecord> earlier, reader.runs());
  const auto here = std::ranges::find(earlier, run.uid, &RunRecord::uid);
  earlier.erase(here, earlier.end());
  std::ranges::reverse(earlier);
  for (const RunRecord& other : earlier) {
    if (std::ranges::none_of(causes, [](const Cause& cause) { return cause.known_from.empty(); })) break;
    OPWRIGHT_TRY_ASSIGN(const auto outcomes, reader.outcomes(other.uid));
    // Where two devices disagree, the outcome of one of them may be no failure.
    const bool has_failed = std::ranges::any_of(outcomes, [](const auto& one) { return is_failure(one.first); });
    if (!has_failed && other.against.empty()) continue;
    OPWRIGHT_TRY(reader.for_each(other.uid, [&](CaseRecord&& record) -> Status {
      const auto kind = shrink::failure_of(record);
      if (!kind) return {};
      for (Cause& cause : causes)
        if (cause.known_from.empty() && cause.kind == *kind) cause.known_from = other.uid;
      return {};
    }));
  }
  return {};
}

// The latest cases that began before it.
std::vector<std::string> history_of(const CaseRecord& record, const std::vector<CaseRecord>& all) {
  std::vector<const CaseRecord*> before;
  for (const CaseRecord& other : all)
    if (other.started < record.started && other.index != record.index) before.push_back(&other);
  std::ranges::sort(before, {}, [](const CaseRecord* one) { return one->started; });
  const std::size_t most = std::min(before.size(), WorkerProcess::kMostHistory);
  std::vector<std::string> lines;
  for (std::size_t i = before.size() - most; i < before.size(); ++i) lines.push_back(before[i]->line);
  return lines;
}

Result<ShrinkReport> shrink_line(const ShrinkRequest& request, const ShrinkWatcher& watcher) {
  ShrinkTask task;
  task.line = request.line;
  task.history = request.after;
  task.needs_history = !request.after.empty();
  task.choice = request.choice;
  if (!task.choice.device) task.choice.device = kUsualDevice;
  OPWRIGHT_TRY_ASSIGN(const RunOptions options, case_options(task.choice));
  task.recipe = options.recipe;
  OPWRIGHT_TRY_ASSIGN(const OpConfig config, parse_case(task.line));
  OPWRIGHT_TRY(check_operator(config, *task.choice.device));
  OPWRIGHT_TRY_ASSIGN(const auto worker, start_worker(task.choice, request.worker, watcher));
  ShrinkReport report;
  OPWRIGHT_TRY_ASSIGN(ShrunkFailure found, shrink_one(task, worker->trials, request.budget, watcher));
  report.failures.push_back(std::move(found));
  report.interrupted = is_stopped(watcher);
  return report;
}

Result<ShrinkReport> shrink_run(const ShrinkRequest& request, const ShrinkWatcher& watcher) {
  OPWRIGHT_TRY(request.filter.check());
  OPWRIGHT_TRY_ASSIGN(const auto reader, store::open_results(request.store, request.wait_ms));
  OPWRIGHT_TRY_ASSIGN(const RunRecord run, reader->find_run(request.run));
  OPWRIGHT_TRY_ASSIGN(const RunChoice choice, choice_of(request, run));
  OPWRIGHT_TRY_ASSIGN(RunFailures failures, failures_of(request, *reader, run));
  if (request.new_only) OPWRIGHT_TRY(find_known(failures.causes, *reader, run));
  ShrinkReport report;
  report.run = run.uid;
  shrink::Budget left = request.budget;
  std::map<std::string, std::unique_ptr<DeviceWorker>> workers;
  for (const Cause& cause : failures.causes) {
    if (!cause.known_from.empty()) {
      report.known.push_back({cause.kind, cause.known_from});
      continue;
    }
    if (is_stopped(watcher) || report.failures.size() >= request.causes || left.seconds <= 0) {
      ++report.more;
      continue;
    }
    ShrinkTask task;
    task.line = cause.record.line;
    task.recipe = cause.record.recipe;
    task.choice = choice;
    task.choice.device = device_of(cause.record, choice);
    task.needs_history = cause.record.blame == Blame::kStateLeak;
    if (cause.record.blame != Blame::kOperator) task.history = history_of(cause.record, failures.all);
    ShrunkFailure found;
    auto& worker = workers[*task.choice.device];
    if (!worker) {
      OPWRIGHT_TRY_ASSIGN(worker, start_worker(task.choice, request.worker, watcher));
    }
    auto shrunk = shrink_one(task, worker->trials, left, watcher);
    if (shrunk) {
      found = *std::move(shrunk);
    } else {  // the rest goes on
      found.given = task.line;
      found.device = *task.choice.device;
      found.why = shrunk.error().message;
      worker.reset();
    }
    found.vector = cause.record.vector;
    found.alike = cause.alike;
    if (found.kind.op.empty()) found.kind = cause.kind;
    left.seconds -= found.seconds;
    report.failures.push_back(std::move(found));
  }
  report.interrupted = is_stopped(watcher);
  return report;
}

}  // namespace

std::string needs_text(const ShrunkFailure& failure) {
  if (failure.needs.empty()) return "fails whatever its arguments are";
  std::vector<std::string> parts;
  for (const shrink::Needed& needed : failure.needs) parts.push_back(to_text(needed.need));
  return fmt::format("fails only if {}", fmt::join(parts, " and "));
}

Result<ShrinkReport> shrink_failures(const ShrinkRequest& request, const ShrinkWatcher& watcher) {
  return request.line.empty() ? shrink_run(request, watcher) : shrink_line(request, watcher);
}

}  // namespace opwright::jobs
