#include "cli/run_many.h"

#include <fmt/format.h>

#include <optional>

#include "base/words.h"
#include "cli/interrupts.h"
#include "cli/output.h"
#include "cli/run_view.h"
#include "cli/shrink_view.h"
#include "jobs/ending.h"
#include "report/analysis_view.h"

namespace opwright::cli {
namespace {

void explain_plan(const jobs::PlanSummary& plan, CommandEnv& env) {
  for (const auto& [rule, count] : plan.invalid)
    env.err << fmt::format("opwright: {} not taken: {} (--keep-invalid runs them)\n", plural(count, "vector"), rule);
  if (plan.other_shards > 0)
    env.err << fmt::format("opwright: {} in other parts (--shard)\n", plural(plan.other_shards, "case"));
  if (plan.without_board > 0)
    env.err << fmt::format("opwright: {} of traces that name no known board\n", plural(plan.without_board, "case"));
}

// What would be run, an operation a row.
void print_plan(const jobs::PlanSummary& plan, CommandEnv& env) {
  Table table{{{"operation"}, {"cases", true}, {"calls", true}, {"seconds", true}, {"largest", true}}, {}};
  const auto add = [&](const std::string& name, const jobs::PlanSummary::Row& row) {
    table.rows.push_back({name, row.cases, row.calls,
                          Cell(fmt::format("{:.2f}", row.seconds), fmt::format("{:.4f}", row.seconds)),
                          Cell(size_text(row.largest), std::to_string(row.largest))});
  };
  for (const auto& [name, row] : plan.operations) add(name, row);
  add("all", plan.all);
  print(table, env);
  if (plan.timed_before > 0)
    env.err << fmt::format("opwright: of {} the time is that of an earlier run\n", plural(plan.timed_before, "case"));
  env.err << plan.budget;
}

void explain_workers(const RunnerSummary& ran, CommandEnv& env) {
  if (ran.died + ran.hung + ran.repetitions > 0)
    env.err << fmt::format("opwright: {} started: {} died, {} hung, {} recycled; {} to find who is to blame\n",
                           plural(ran.workers, "worker"), ran.died, ran.hung, ran.recycled,
                           plural(ran.repetitions, "repetition"));
  if (ran.shared + ran.not_repeated > 0)
    env.err << fmt::format(
        "opwright: {} the blame of another with the same operation and message; {} not repeated for "
        "lack of time; --attribute all repeats each\n",
        plural(ran.shared, "failure shares", "failures share"), grouped(ran.not_repeated));
  if (!ran.stopped.empty()) env.err << fmt::format("opwright: stopped: {}\n", ran.stopped);
}

void explain_times(const jobs::TimedCases& timed, CommandEnv& env) {
  if (!timed.refused.empty()) {
    env.err << fmt::format("opwright: no times: {}\n", timed.refused);
    return;
  }
  env.err << fmt::format(
      "opwright: {} timed; others used at most {:.0f} % of the machine; 'opwright results --perf' shows them\n",
      plural(timed.timed, "case"), 100 * timed.busiest);
  for (const auto& [why, count] : timed.refusals)
    env.err << fmt::format("opwright: {} without times: {}\n", plural(count, "case"), why);
}

// One failure of each cause, made smaller.
Result<std::optional<jobs::ShrinkReport>> shrink_causes(const jobs::RunRequest& request, const std::string& run,
                                                        double seconds, const Interrupts* interrupts) {
  jobs::ShrinkRequest asked;
  asked.store = request.store;
  asked.wait_ms = request.wait_ms;
  asked.run = run;
  asked.worker = request.worker;
  asked.budget.seconds = seconds;
  asked.new_only = true;
  asked.choice.device = request.choice.device;  // what is secret in it is not in the store
  jobs::ShrinkWatcher watcher;
  if (interrupts != nullptr) watcher.stop = [interrupts] { return interrupts->count()->load(); };
  auto report = jobs::shrink_failures(asked, watcher);
  if (!report && report.error().code == ErrorCode::kNotFound) return std::nullopt;  // nothing failed
  if (!report) return fail(std::move(report).error());
  return *std::move(report);
}

std::string shrunk_section(const jobs::ShrinkReport& report) {
  std::string text = report.failures.empty() ? "\n" : "\nsmallest cases, one of each new cause\n";
  for (const jobs::ShrunkFailure& failure : report.failures) text += shrunk_text(failure);
  for (const jobs::KnownCause& known : report.known)
    text += fmt::format("known from run {}: {} {}\n", known.run, known.kind.op, to_text(known.kind));
  if (!report.known.empty())
    text += fmt::format("{} not shrunk again: opwright shrink {}\n", plural(std::ssize(report.known), "known cause"),
                        report.run);
  if (report.more > 0) text += fmt::format("{} more: opwright shrink {}\n", plural(report.more, "cause"), report.run);
  return text;
}

void print_analysis(const report::Analysis& analysis, const jobs::ShrinkReport* shrunk, CommandEnv& env) {
  JsonObject object = report::analysis_json(analysis);
  if (shrunk != nullptr)
    object.add_raw("shrunk", shrunk_list_json(*shrunk)).add_raw("known_causes", known_list_json(*shrunk));
  print_object(
      object,
      {{"run", analysis.run.uid},
       {"total", std::to_string(analysis.total)},
       {"passed", std::to_string(analysis.passed)},
       {"failed", std::to_string(analysis.failed)}},
      report::analysis_text(analysis, {.width = text_width(env)}) + (shrunk != nullptr ? shrunk_section(*shrunk) : ""),
      env);
}

}  // namespace

Result<int> run_many(const jobs::RunRequest& request, const RunManyOptions& options, CommandEnv& env) {
  std::optional<Interrupts> interrupts;  // until workers run, Ctrl-C ends the process as ever
  RunView view(env.live(), view_options(env, options.quiet));
  jobs::RunWatcher watcher;
  watcher.resumed = [&](const RunRecord& run) {
    if (run.status != "unknown") return;
    env.err << fmt::format(
        "opwright: run {} was begun on {}, whose processes cannot be seen from here: if it still runs, both write "
        "into it\n",
        run.uid, run.host);
  };
  watcher.announce = [&](std::int64_t count, std::size_t operations) {
    env.err << fmt::format("opwright: {} of {}\n", plural(count, "combination"),
                           plural(static_cast<std::int64_t>(operations), "operation"));
  };
  watcher.planned = [&](const jobs::PlanSummary& plan) { explain_plan(plan, env); };
  watcher.begins = [&](const jobs::RunSize& size) {
    interrupts.emplace();
    watcher.stop = [&interrupts] { return interrupts->count()->load(); };
    watcher.wake = interrupts->wake();
    view.start(size);
  };
  watcher.case_started = [&](int slot, std::string_view op, std::string_view line, double estimated) {
    view.case_started(slot, op, line, estimated);
  };
  watcher.step = [&](int slot, std::string_view what) { view.slot_note(slot, what); };
  watcher.case_ended = [&](int slot, const CaseRecord& record) { view.case_ended(slot, record); };
  watcher.blamed = [&](const CaseRecord& repeated, std::int64_t others) {
    view.note(fmt::format("blame: {}{}: {}", name_of(repeated.blame),
                          others > 0 ? fmt::format(", shared by {}", plural(others, "more failure of its cause",
                                                                            "more failures of its cause"))
                                     : "",
                          repeated.line));
  };
  watcher.note = [&](const std::string& text) { view.note(text); };
  watcher.tick = [&] { view.tick(); };
  watcher.ended = [&](const RunnerSummary* ran) {
    view.finish(ran == nullptr ? "broken off" : ran->interrupted ? "interrupted" : "");
    if (ran != nullptr) explain_workers(*ran, env);
  };
  OPWRIGHT_TRY_ASSIGN(const jobs::RunReport report, jobs::run_suite(request, watcher));
  std::optional<jobs::ShrinkReport> shrunk;
  switch (report.end) {
    case jobs::RunReport::End::kNothingToResume:
      env.err << fmt::format("opwright: run {} is complete; nothing to resume\n", report.run.uid);
      break;
    case jobs::RunReport::End::kPlanned:
      print_plan(report.plan, env);
      break;
    case jobs::RunReport::End::kNotBegun:
      env.err << (report.ran.time_over || report.ran.cut_off > 0
                      ? "opwright: the budget was over before a device answered; no run was stored\n"
                      : "opwright: interrupted before a device answered; no run was stored\n");
      break;
    case jobs::RunReport::End::kRan:
      if (options.shrink_seconds > 0 && !report.ran.interrupted) {
        OPWRIGHT_TRY_ASSIGN(shrunk, shrink_causes(request, report.run.uid, options.shrink_seconds,
                                                  interrupts ? &*interrupts : nullptr));
      }
      print_analysis(report.analysis, shrunk ? &*shrunk : nullptr, env);
      if (report.timed) {
        explain_times(*report.timed, env);
        if (!report.timed->refused.empty()) return kExitFailed;
      }
      if (report.profile) env.err << fmt::format("opwright: {}\n", words_of(*report.profile));
      env.err << report.course;
      if (report.ran.time_over)
        env.err << fmt::format("opwright: the budget is over{}; 'opwright run --resume' goes on with what is left\n",
                               report.ran.cut_off > 0 ? fmt::format(" and {} stopped", plural(report.ran.cut_off,
                                                                                              "case was", "cases were"))
                                                      : "");
      if (report.ran.interrupted) env.err << "opwright: interrupted; 'opwright run --resume' goes on\n";
      break;
  }
  if (const std::string what = jobs::beyond(report.analysis, options.tolerance);
      options.is_tolerance_told && report.end == jobs::RunReport::End::kRan && !what.empty())
    env.err << fmt::format("opwright: {}\n", what);
  return jobs::exit_code(jobs::ending_of(report, options.tolerance));
}

}  // namespace opwright::cli
