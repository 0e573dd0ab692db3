#include "jobs/shrink_one.h"

#include <fmt/format.h>

#include <chrono>

#include "base/words.h"
#include "exec/case_line.h"
#include "exec/plan_call.h"
#include "exec/record_of.h"
#include "jobs/device_program.h"
#include "jobs/run_setup.h"
#include "ops/all_ops.h"

namespace opwright::jobs {
namespace {

constexpr double kHangSeconds = 5;  // for a trial of a case that hangs, where nobody says more
constexpr int kRepetitions = 5;     // that show how often a flaky one fails

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Board board_of(const std::string& device) {
  const std::size_t colon = device.rfind(':');
  const auto named = find_board(colon == std::string::npos ? "n150" : std::string_view(device).substr(colon + 1));
  return named ? *named : *find_board("n150");
}

// The same call with Python's names, so that what is found speaks of them.
std::optional<OpConfig> with_names(const OpConfig& config) {
  const OpSpec* op = find_op(config.op);
  const auto called = op == nullptr ? Checked<BoundCall>(unsupported("", "")) : bind(*op, config);
  if (!called) return std::nullopt;
  const OpConfig named{std::string(op->name), Convention::kPython, called->args, {}};
  if (case_line(named) == case_line(config)) return std::nullopt;
  return named;
}

// The trials of one failure.
class Trial {
 public:
  Trial(const ShrinkTask& task, shrink::WorkerTrials& workers, const ShrinkWatcher& watcher)
      : task_(task), workers_(workers), watcher_(watcher) {}

  // `fresh`: in a process that has run nothing; those with cases before them always are.
  Result<CaseRecord> run(const shrink::Subject& subject, bool fresh) {
    if (watcher_.stop && watcher_.stop() > 0) return fail(ErrorCode::kUnsupported, "interrupted");
    std::vector<Job> jobs;
    for (const OpConfig& config : subject.before) jobs.push_back(job_of_case(config, task_.recipe));
    jobs.push_back(job_of_case(subject.config, subject.recipe));
    jobs.front().fresh = fresh || !subject.before.empty();
    if (watcher_.trial) watcher_.trial(jobs.back().record.line, ++count_);
    return workers_.run(jobs);
  }
  void set_seconds(double seconds) { seconds_ = seconds; }

 private:
  Job job_of_case(const OpConfig& config, const DataRecipe& recipe) {
    vectors::TestVector vector;
    vector.id = "shrink";
    vector.suite = "shrink";
    vector.config = config;
    vector.recipe = recipe;
    vector.pcc = task_.choice.pcc;
    Job job = job_of(vector, index_++, task_.choice.device.value_or("sim:n150"));
    job.seconds = seconds_ > 0 ? seconds_ : task_.choice.timeouts.of(job.record, std::nullopt, 0);
    return job;
  }

  const ShrinkTask& task_;
  shrink::WorkerTrials& workers_;
  const ShrinkWatcher& watcher_;
  std::int64_t index_ = 0, count_ = 0;
  double seconds_ = 0;
};

std::string repeat_of(const ShrunkFailure& found, const ShrinkTask& task) {
  std::string text = repeat_command(found.smallest, found.device, found.recipe) + repeat_flags(task.choice);
  for (const std::string& line : found.before) text += " --after " + shell_quoted(line);
  return text;
}

// How often it fails, of some times alone in fresh processes.
Status count_flaky(Trial& trial, const shrink::Subject& subject, ShrunkFailure& out) {
  int failed = 0;
  for (int i = 0; i < kRepetitions; ++i) {
    OPWRIGHT_TRY_ASSIGN(const CaseRecord record, trial.run(subject, true));
    failed += shrink::failure_of(record).has_value() ? 1 : 0;
  }
  out.end = ShrunkFailure::End::kFlaky;
  out.why = fmt::format(
      "it is flaky: after a failure it did not fail again in the same way; {} of {} more times it "
      "failed, each in a new process",
      failed, kRepetitions);
  return {};
}

}  // namespace

Result<std::unique_ptr<DeviceWorker>> start_worker(const RunChoice& choice, const std::vector<std::string>& worker,
                                                   const ShrinkWatcher& watcher) {
  RunRequest request;
  request.choice = choice;
  request.worker = worker;
  request.jobs = 1;
  OPWRIGHT_TRY_ASSIGN(const PlanOptions plan, plan_options(request, {}));
  OPWRIGHT_TRY_ASSIGN(WorkerSetup setup, worker_setup(plan, memory_of(request)));
  RunnerOptions runner = runner_options(request, plan, setup, 1);
  if (watcher.stop) runner.interrupts = [stop = watcher.stop] { return stop() > 0 ? 2 : 0; };
  return std::make_unique<DeviceWorker>(std::move(setup), std::move(runner));
}

Result<ShrunkFailure> shrink_one(const ShrinkTask& task, shrink::WorkerTrials& workers, const shrink::Budget& budget,
                                 const ShrinkWatcher& watcher) {
  using shrink::Answer;
  ShrunkFailure out;
  OPWRIGHT_TRY_ASSIGN(const OpConfig config, parse_case(task.line));
  out.given = case_line(config);
  out.device = task.choice.device.value_or("sim:n150");
  shrink::Subject subject{config, task.recipe, {}};
  std::vector<OpConfig> history;
  for (const std::string& line : task.history) {
    OPWRIGHT_TRY_ASSIGN(OpConfig one, parse_case(line));
    history.push_back(std::move(one));
  }
  if (task.needs_history) subject.before = history;
  const double begun = now_seconds();
  Trial trial(task, workers, watcher);
  OPWRIGHT_TRY_ASSIGN(CaseRecord first, trial.run(subject, true));
  auto kind = shrink::failure_of(first);
  if (!kind && !task.needs_history && !history.empty()) {
    subject.before = history;
    OPWRIGHT_TRY_ASSIGN(first, trial.run(subject, true));
    kind = shrink::failure_of(first);
  }
  out.record = first;
  if (!kind) {
    out.end = ShrunkFailure::End::kDoesNotFail;
    out.why = fmt::format("it does not fail: {}{}{}", name_of(first.outcome),
                          first.against.empty() ? "" : fmt::format(", and {} agrees", task.choice.against),
                          history.empty() ? "" : ", neither alone nor after the cases before it");
    return out;
  }
  out.kind = *kind;
  OPWRIGHT_TRY_ASSIGN(const CaseRecord second, trial.run(subject, true));
  if (shrink::compare(second, *kind) != Answer::kFails) {
    OPWRIGHT_TRY(count_flaky(trial, subject, out));
    return out;
  }
  if (kind->outcome == Outcome::kTimedOut && !task.choice.timeouts.usual && !is_device_program(out.device))
    trial.set_seconds(kHangSeconds);

  shrink::Rules rules = kind->is_refusal() ? shrink::Rules() : shrink::Rules(board_of(out.device));
  if (!rules.allow(config)) rules = shrink::Rules();
  const auto ask = [&](bool fresh) {
    return [&, fresh](const shrink::Subject& candidate) -> Result<Answer> {
      OPWRIGHT_TRY_ASSIGN(const CaseRecord record, trial.run(candidate, fresh));
      return shrink::compare(record, *kind);
    };
  };
  bool fresh = false;
  for (;;) {
    const double spent_seconds = now_seconds() - begun;
    shrink::Trials trials(
        ask(fresh), {budget.trials - static_cast<int>(out.trials) - 2, budget.seconds - spent_seconds}, now_seconds);
    shrink::Subject start = subject;
    if (auto named = with_names(config)) {
      shrink::Subject candidate = subject;
      candidate.config = *std::move(named);
      if (trials.fails(candidate, shrink::kArguments)) start = std::move(candidate);
    }
    shrink::Shrunk shrunk = shrink::shrink_case(start, rules, trials);
    out.trials += trials.run();
    out.cached += trials.cached();
    for (const auto& [name, count] : trials.counts()) {
      out.tried[name].tried += count.tried;
      out.tried[name].failed += count.failed;
    }
    out.spent = trials.spent();
    if (trials.error()) {
      if (watcher.stop && watcher.stop() > 0)
        out.spent = true;
      else
        return fail(*trials.error());
    }
    // Trials share a process: what one leaves behind must not be the reason.
    bool sure = fresh || trials.error().has_value();
    if (!sure) {
      OPWRIGHT_TRY_ASSIGN(out.record, trial.run(shrunk.smallest, true));
      ++out.trials;
      sure = shrink::compare(out.record, *kind) == Answer::kFails;
    }
    if (sure) {
      out.smallest = case_line(shrunk.smallest.config);
      for (const OpConfig& before : shrunk.smallest.before) out.before.push_back(case_line(before));
      out.recipe = shrunk.smallest.recipe;
      out.needs = std::move(shrunk.needs);
      break;
    }
    fresh = true;
  }
  out.end = ShrunkFailure::End::kShrunk;
  out.trials += 2;  // to see that it fails
  out.seconds = now_seconds() - begun;
  out.repeat = repeat_of(out, task);
  return out;
}

}  // namespace opwright::jobs
