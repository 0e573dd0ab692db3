#include <fmt/format.h>

#include <array>

#include "base/near_names.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/profile_view.h"
#include "cli/results_views.h"
#include "cli/tolerance_flags.h"
#include "jobs/ending.h"
#include "jobs/look_at_results.h"
#include "report/analysis_view.h"
#include "report/run_diff_view.h"
#include "store/store.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    Flag{"--op", "NAME", "only results of this operator: ttnn.add or add; may be given again", true},
    Flag{"--outcome", "NAME", "only results that ended so: failed, timed_out, …, or failure for all kinds of them",
         true},
    Flag{"--model", "NAME", "only results of this model", true},
    kWhereFlag,
    Flag{"--disagreeing", "", "only results of --against where both devices answered, and not the same"},
    Flag{"--by", "WHAT", "a table with one row an op, dtype, layout, memory, model, suite, outcome or blame"},
    Flag{"--worst", "N", "the N worst cases by PCC, ULP, error bound and time, with their repeat lines"},
    Flag{"--clusters", "", "every kind of failure, not only the most frequent ones"},
    Flag{"--list", "", "one line a result"},
    Flag{"--coverage", "", "a Markdown table: which operations got a verdict, and why the others did not"},
    Flag{"--runs", "", "the runs of the store"},
    Flag{"--diff", "", "what changed from run A to run B; exit code 1 where something fails that did not"},
    Flag{"--perf", "", "times of a run with --perf, one row a case; with --diff: which cases are slower or faster"},
    Flag{"--margin", "PERCENT", "--diff --perf: a change up to this is none (default 5)"},
    Flag{"--false-rate", "PERCENT", "--diff --perf: so many of the changes named may be chance (default 5)"},
    Flag{"--history", "CASE",
         "one case over all runs, and where its time changed: its line, its name @054f8d1b, or the beginning of its id "
         "or key"},
    Flag{"--export", "FORMAT:PATH", "sweep:FOLDER, csv:FILE, junit:FILE or jsonl:FILE; may be given again", true},
    Flag{"--import", "FILE", "take the runs of a file of --export jsonl into the store; may be given again", true},
    kMaxFailedFlag,
    kMaxUnprovenFlag,
    kStrictVerdictsFlag,
    kProfileFlag,
    kProfileWindowFlag,
    kWaitFlag,
};

constexpr char kDetails[] =
    "RUN is the uid of a run, its beginning, last (the default) or last~1, last~2, …\n\n"
    "  opwright results\n"
    "  opwright results --by dtype --op matmul\n"
    "  opwright results last --outcome failure --list\n"
    "  opwright results --disagreeing --list\n"
    "  opwright results --diff last~1 last\n"
    "  opwright results --diff last~1 last --perf\n"
    "  opwright results --profile ops_perf_results.csv       (how much of a model's time the cases stand for)\n"
    "  opwright results --export junit:report.xml --export csv:all.csv\n\n"
    "Exit code 1: a case failed (of an analysis or a list), or fails now and did not before (of a difference), or is\n"
    "slower (of a difference of times).";

constexpr std::size_t kAllClusters = 1000;

Result<int> diff(const ParsedArgs& args, const jobs::ResultsQuestion& question, CommandEnv& env) {
  if (args.positionals.size() != 2)
    return fail(ErrorCode::kUsage, "results --diff needs two runs: opwright results --diff last~1 last");
  OPWRIGHT_TRY_ASSIGN(const std::size_t most, count_of(args, "--worst", 10));
  OPWRIGHT_TRY_ASSIGN(const report::RunDiff found,
                      jobs::diff_results(question, args.positionals[0], args.positionals[1]));
  const auto size = [](const auto& list) { return std::to_string(list.size()); };
  print_object(report::diff_json(found),
               {{"a", found.a.uid},
                {"b", found.b.uid},
                {"both", std::to_string(found.both)},
                {"same_outcome", std::to_string(found.same_outcome)},
                {"new_failures", size(found.new_failures)},
                {"failing_new_cases", size(found.failing_new_cases)},
                {"lost_verdicts", size(found.lost_verdicts)},
                {"fixed", size(found.fixed)},
                {"changed", size(found.changed)},
                {"only_a", size(found.only_a)},
                {"only_b", size(found.only_b)},
                {"accuracy_drops", size(found.accuracy_drops)},
                {"memory_growth", size(found.memory_growth)},
                {"slower", size(found.slower)}},
               report::diff_text(found, most, text_width(env)), env);
  return jobs::exit_code(jobs::ending_of(found));
}

Result<int> analyse(const ParsedArgs& args, const jobs::RunResults& results, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const std::size_t worst, count_of(args, "--worst", 3));
  std::optional<report::By> by;
  if (const std::string name = args.value("--by"); !name.empty()) {
    by = report::parse_by(name);
    std::vector<std::string_view> known;
    for (const report::By one : report::kAllBy) known.push_back(name_of(one));
    if (!by)
      return fail(ErrorCode::kUsage, fmt::format("--by: no '{}'{}; op, dtype, layout, memory, model, suite, outcome or "
                                                 "blame",
                                                 name, did_you_mean(near_names(name, known))));
  }
  OPWRIGHT_TRY_ASSIGN(const report::Analysis analysis, results.analyse(worst));
  OPWRIGHT_TRY_ASSIGN(const jobs::Tolerance tolerance, tolerance_of(args));
  const int exit = jobs::exit_code(jobs::ending_of(analysis, tolerance));
  if (const std::string what = jobs::beyond(analysis, tolerance); has_tolerance(args) && !what.empty())
    env.err << fmt::format("opwright: {}\n", what);
  if (by) {
    print_groups(analysis, *by, env);
    return exit;
  }
  report::TextOptions options;
  options.width = text_width(env);
  if (args.is_set("--clusters")) options.clusters = kAllClusters;
  if (!args.value("--worst").empty()) options.worst = worst;
  const auto pcc = [&](double value) { return analysis.pcc.empty() ? std::string() : fmt::format("{}", value); };
  print_object(report::analysis_json(analysis),
               {{"run", results.run().uid},
                {"total", std::to_string(analysis.total)},
                {"passed", std::to_string(analysis.passed)},
                {"failed", std::to_string(analysis.failed)},
                {"undecided", std::to_string(analysis.undecided)},
                {"no_verdict", std::to_string(analysis.no_answer)},
                {"unreached", std::to_string(analysis.unreached)},
                {"calls", std::to_string(analysis.calls)},
                {"calls_passed", std::to_string(analysis.calls_passed)},
                {"pcc_min", pcc(analysis.pcc.min())},
                {"pcc_max", pcc(analysis.pcc.max())},
                {"pcc_avg", pcc(analysis.pcc.average())},
                {"seconds", fmt::format("{}", analysis.seconds.sum())}},
               env.format == OutputFormat::kTable ? report::analysis_text(analysis, options) : "", env);
  return exit;
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const int wait, wait_ms(args));
  jobs::ResultsQuestion question{
      env.store,
      wait,
      {args.all("--op"), args.all("--outcome"), args.all("--model"), args.is_set("--disagreeing"), {}}};
  OPWRIGHT_TRY_ASSIGN(question.filter.where, jobs::results_where(args.value("--where"), env.store, wait));
  OPWRIGHT_TRY(question.filter.check());
  if (const auto files = args.all("--import"); !files.empty()) {
    if (!args.positionals.empty() || args.is_set("--diff") || args.is_set("--runs"))
      return fail(ErrorCode::kUsage, "results --import takes whole files and nothing else; ask in a second command");
    return import_results(files, wait, env);
  }
  if (args.is_set("--runs")) return list_runs(question, env);
  if (const std::string wanted = args.value("--history"); !wanted.empty()) return show_history(wanted, question, env);
  if (args.is_set("--diff") && args.is_set("--perf")) return diff_times(args, question, env);
  if (args.is_set("--diff")) return diff(args, question, env);
  if (args.positionals.size() > 1)
    return fail(ErrorCode::kUsage, "results takes one run; two of them are compared with --diff A B");
  OPWRIGHT_TRY_ASSIGN(const jobs::RunResults results,
                      jobs::RunResults::open(question, args.positionals.empty() ? "last" : args.positionals.front()));
  if (const auto targets = args.all("--export"); !targets.empty())
    return export_results(targets, results, args.is_set(kStrictVerdictsFlag.name), env);
  if (args.is_set("--perf")) return list_times(results, env);
  OPWRIGHT_TRY_ASSIGN(const std::optional<jobs::PerfRequest> profile, profile_of(args));
  if (profile) return print_explained(results, *profile, {.store = env.store, .wait_ms = wait}, env);
  if (args.is_set("--list")) return list_results(results.stream(), env);
  if (args.is_set("--coverage")) {
    OPWRIGHT_TRY_ASSIGN(const report::Coverage coverage, results.coverage());
    env.out << coverage.markdown();
    return kExitOk;
  }
  return analyse(args, results, env);
}

}  // namespace

const Command kResults{"results", "Analyse the results of a run, compare two runs, or export them.",
                       kDetails,  "[RUN]",
                       0,         2,
                       kFlags,    run,
                       false,     true};

}  // namespace opwright::cli
