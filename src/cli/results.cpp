#include <fmt/format.h>

#include <array>

#include "base/near_names.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/results_views.h"
#include "jobs/ending.h"
#include "report/analysis_view.h"
#include "report/coverage.h"
#include "report/result_filter.h"
#include "report/run_diff_view.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    Flag{"--op", "NAME", "only results of this operator: ttnn.add or add; may be given again", true},
    Flag{"--outcome", "NAME", "only results that ended so: failed, timed_out, …, or failure for all kinds of them",
         true},
    Flag{"--model", "NAME", "only results of this model", true},
    Flag{"--by", "WHAT", "a table with one row an op, dtype, layout, memory, model, suite, outcome or blame"},
    Flag{"--worst", "N", "the N worst cases by PCC, ULP, error bound and time, with their repeat lines"},
    Flag{"--clusters", "", "every kind of failure, not only the most frequent ones"},
    Flag{"--list", "", "one line a result"},
    Flag{"--coverage", "", "a Markdown table: which operations got a verdict, and why the others did not"},
    Flag{"--runs", "", "the runs of the store"},
    Flag{"--diff", "", "what changed from run A to run B; exit code 1 where something fails that did not"},
    Flag{"--export", "FORMAT:PATH", "sweep:FOLDER, csv:FILE, junit:FILE or jsonl:FILE; may be given again", true},
    Flag{"--import", "FILE", "take the runs of a file of --export jsonl into the store; may be given again", true},
    kWaitFlag,
};

constexpr char kDetails[] =
    "RUN is the uid of a run, its beginning, last (the default) or last~1, last~2, …\n\n"
    "  opwright results\n"
    "  opwright results --by dtype --op matmul\n"
    "  opwright results last --outcome failure --list\n"
    "  opwright results --diff last~1 last\n"
    "  opwright results --export junit:report.xml --export csv:all.csv\n\n"
    "Exit code 1: a case failed (of an analysis or a list), or fails now and did not before (of a difference).";

constexpr std::size_t kAllClusters = 1000;

report::ResultStream stream_of(store::ResultsReader& reader, const std::string& uid) {
  return [&reader, uid](const report::UseResult& use) { return reader.for_each(uid, use); };
}

std::size_t text_width(const CommandEnv& env) {
  return env.out_is_terminal ? static_cast<std::size_t>(env.width) : 160;
}

Result<int> diff(const ParsedArgs& args, store::ResultsReader& reader, const report::ResultFilter& filter,
                 CommandEnv& env) {
  if (args.positionals.size() != 2)
    return fail(ErrorCode::kUsage, "results --diff needs two runs: opwright results --diff last~1 last");
  OPWRIGHT_TRY_ASSIGN(const RunRecord a, reader.find_run(args.positionals[0]));
  OPWRIGHT_TRY_ASSIGN(const RunRecord b, reader.find_run(args.positionals[1]));
  OPWRIGHT_TRY_ASSIGN(const std::size_t most, count_of(args, "--worst", 10));
  // An operator that only one of the runs has is a difference, no error: the filter may leave one side empty.
  const auto lenient = [&](const RunRecord& run) -> report::ResultStream {
    return [&reader, &filter, uid = run.uid](const report::UseResult& use) {
      return reader.for_each(
          uid, [&](CaseRecord&& record) { return filter.matches(record) ? use(std::move(record)) : Status(); });
    };
  };
  OPWRIGHT_TRY_ASSIGN(const report::RunDiff found, report::diff_runs(a, lenient(a), b, lenient(b)));
  const auto size = [](const auto& list) { return std::to_string(list.size()); };
  print_object(report::diff_json(found),
               {{"a", a.uid},
                {"b", b.uid},
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

Result<int> analyse(const ParsedArgs& args, const RunRecord& run, const report::ResultStream& results, bool filtered,
                    CommandEnv& env) {
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
  report::Analyser analyser(run, {.worst = worst, .filtered = filtered});
  OPWRIGHT_TRY(results([&](CaseRecord&& record) -> Status {
    analyser.add(record);
    return {};
  }));
  const report::Analysis analysis = analyser.finish();
  const int exit = jobs::exit_code(jobs::ending_of(analysis));
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
               {{"run", run.uid},
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
  report::ResultFilter filter{args.all("--op"), args.all("--outcome"), args.all("--model")};
  OPWRIGHT_TRY(filter.check());
  if (const auto files = args.all("--import"); !files.empty()) {
    if (!args.positionals.empty() || args.is_set("--diff") || args.is_set("--runs"))
      return fail(ErrorCode::kUsage, "results --import takes whole files and nothing else; ask in a second command");
    return import_results(files, wait, env);
  }
  OPWRIGHT_TRY_ASSIGN(store::ResultsReader reader, store::ResultsReader::open(env.store, wait));
  if (args.is_set("--runs")) return list_runs(reader, env);
  if (args.is_set("--diff")) return diff(args, reader, filter, env);
  if (args.positionals.size() > 1)
    return fail(ErrorCode::kUsage, "results takes one run; two of them are compared with --diff A B");
  OPWRIGHT_TRY_ASSIGN(const RunRecord record,
                      reader.find_run(args.positionals.empty() ? "last" : args.positionals.front()));
  const bool is_filtered = !filter.empty();
  const report::ResultStream results = report::filtered(stream_of(reader, record.uid), std::move(filter));
  if (const auto targets = args.all("--export"); !targets.empty()) return export_results(targets, record, results, env);
  if (args.is_set("--list")) return list_results(results, env);
  if (args.is_set("--coverage")) {
    report::Coverage coverage;
    OPWRIGHT_TRY(results([&](CaseRecord&& found) -> Status {
      coverage.add(found);
      return {};
    }));
    env.out << coverage.markdown();
    return kExitOk;
  }
  return analyse(args, record, results, is_filtered, env);
}

}  // namespace

const Command kResults{"results", "Analyse the results of a run, compare two runs, or export them.",
                       kDetails,  "[RUN]",
                       0,         2,
                       kFlags,    run,
                       false,     true};

}  // namespace opwright::cli
