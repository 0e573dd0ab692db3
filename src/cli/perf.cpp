#include <fmt/format.h>

#include <array>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/perf_export.h"
#include "cli/perf_view.h"
#include "cli/profile_view.h"
#include "jobs/perf_report.h"
#include "perf/report_json.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    Flag{"--windows", "", "list the windows between signposts"},
    Flag{"--window", "NAME", "this window; NAME#2 of several; FROM..TO between any two signposts; '*' the whole file"},
    Flag{"--iterations", "N", "that the window has N iterations (default: found as the period of its operations)"},
    Flag{"--device", "N", "only rows of this device"},
    Flag{"--devices", "N", "how many devices there must be in all; another number is an error"},
    Flag{"--hosts", "", "several FILEs are hosts of one run: their devices get numbers of their own"},
    Flag{"--runs", "", "several FILEs are runs of one program with other counters: their figures are put together"},
    Flag{"--board", "NAME", "the board (default: from the architecture and cores of the rows)"},
    Flag{"--like", "RULE", "add up as existing tests do: gpt-oss, deepseek or detailed"},
    Flag{"--warmup-rows", "N", "rows of each op code that --like detailed drops (default 10)"},
    Flag{"--explain", "", "in JSON: work, bytes and advice of each position, sums by operation, layout tax"},
    Flag{"--configs", "", "what each configuration of the store costs in this window"},
    Flag{"--unmatched", "", "the positions that no configuration of the store fits, and why"},
    Flag{"--where", "SELECTOR", "--configs, --unmatched: only these configurations, e.g. 'model~llama'"},
    Flag{"--all", "", "every position, not only the first 60"},
    Flag{"--to", "FORMAT", "for other tools (docs/formats/perf-exports.md): benchmark, csv, trace or html, a page"},
    Flag{"--output", "OUT", "--to: the file, -o OUT; benchmark and trace go to standard output without it"},
    Flag{"--against", "FILE", "--to html: an older report, for a view of what changed since"},
    Flag{"--step", "NAME", "--to benchmark, csv: the name of the step (default: the window)"},
};

constexpr char kDetails[] =
    "FILE is a report of the profiler (ops_perf_results_*.csv), plain, .gz or .zst, of any generation.\n"
    "Rows are joined over devices by call count and trace replay; an operation takes as long as its slowest\n"
    "device, or the mean where the devices wait for one another. Iterations are found by what they run; a\n"
    "sum is over the positions of an iteration (docs/formats/profiler-csv.md).\n\n"
    "  opwright perf ops_perf_results.csv --windows\n"
    "  opwright perf ops_perf_results.csv --window PERF_DECODE\n"
    "  opwright perf host0.csv host1.csv --hosts --devices 16 --format json\n"
    "  opwright perf after.csv --against before.csv --to html -o page.html\n\n"
    "Two reports are compared, one is held to targets, and one is made by running a program under the profiler, by "
    "verbs\n"
    "of their own: opwright help perf diff, perf check, perf record. A file of such a name is ./diff, ./check, "
    "./record.";

Result<jobs::PerfRequest> request_of(const ParsedArgs& args) {
  jobs::PerfRequest request{
      .paths = args.positionals, .window = args.value("--window"), .board = args.value("--board")};
  OPWRIGHT_TRY_ASSIGN(const std::size_t devices, count_of(args, "--devices", 0));
  OPWRIGHT_TRY_ASSIGN(const std::size_t iterations, count_of(args, "--iterations", 0));
  request.devices = static_cast<std::int64_t>(devices);
  request.iterations = static_cast<std::int64_t>(iterations);
  if (!args.value("--device").empty()) {
    OPWRIGHT_TRY_ASSIGN(const std::size_t device, count_of(args, "--device", 0));
    request.device = static_cast<std::int64_t>(device);
  }
  if (args.is_set("--hosts") && args.is_set("--runs"))
    return fail(ErrorCode::kUsage,
                "perf: files are hosts of one run (--hosts) or runs of one program (--runs), not both");
  if (args.is_set("--hosts")) request.together = perf::Together::kHosts;
  if (args.is_set("--runs")) request.together = perf::Together::kRuns;
  if (request.paths.size() > 1 && request.together == perf::Together::kOneFile)
    return fail(
        ErrorCode::kUsage,
        fmt::format("perf: {} files; say what they are to one another: --hosts of one run, or --runs of one program "
                    "with other counters",
                    request.paths.size()));
  return request;
}

Result<int> like(const ParsedArgs& args, const jobs::PerfRequest& request, CommandEnv& env) {
  const std::string rule = args.value("--like");
  const auto known = perf::like_of(rule);
  if (!known) return fail(ErrorCode::kUsage, fmt::format("perf --like {}: choose gpt-oss, deepseek or detailed", rule));
  OPWRIGHT_TRY_ASSIGN(const std::size_t warmup, count_of(args, "--warmup-rows", perf::kDetailedWarmup));
  OPWRIGHT_TRY_ASSIGN(const perf::Recording all,
                      perf::read_recording(request.paths, {request.together, request.devices}));
  OPWRIGHT_TRY_ASSIGN(const perf::Window window,
                      perf::choose_window(all.windows, all.marks, all.samples.size(), all.host.size(), request.window,
                                          all.files.front()));
  const perf::LikeResult result = perf::add_up_like(*known, all, window, warmup);
  if (env.format == OutputFormat::kCsv)
    print(like_table(result), env);
  else
    print_object(perf::like_json(rule, result, all, window), {}, like_text(rule, result, all, window), env);
  return kExitOk;
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const jobs::PerfRequest request, request_of(args));
  if (args.is_set("--windows")) {
    OPWRIGHT_TRY_ASSIGN(const perf::Recording all,
                        perf::read_recording(request.paths, {request.together, request.devices}));
    std::vector<std::pair<std::string, std::string>> fields{{"windows", std::to_string(all.windows.all.size())},
                                                            {"unpaired", std::to_string(all.windows.singles.size())}};
    print_object(perf::windows_json(all), fields, windows_text(all), env);
    return kExitOk;
  }
  if (!args.value("--like").empty()) return like(args, request, env);
  if (!args.value("--to").empty()) return export_perf(args, request, env);
  for (const char* flag : {"--output", "--against", "--step"})
    if (!args.value(flag).empty()) return fail(ErrorCode::kUsage, fmt::format("perf: {} belongs to --to FORMAT", flag));
  const bool unmatched = args.is_set("--unmatched");
  if (unmatched || args.is_set("--configs")) {
    OPWRIGHT_TRY_ASSIGN(jobs::ProfileMatch match,
                        jobs::match_profile(request, {.store = env.store, .where = args.value("--where")}));
    return print_matches(std::move(match), unmatched, env);
  }
  if (!args.value("--where").empty()) return fail(ErrorCode::kUsage, "perf: --where belongs to --configs");
  OPWRIGHT_TRY_ASSIGN(const perf::Report report, jobs::read_perf(request));
  PerfViewOptions options;
  if (args.is_set("--all")) options.positions = SIZE_MAX;
  print_report(report, options, args.is_set("--explain"), env);
  return kExitOk;
}

}  // namespace

const Command kPerf{
    "perf",   "Explain a profiler report: time of each operation of an iteration, and what it is bound by.",
    kDetails, "FILE…",
    1,        -1,
    kFlags,   run,
    false,    true};

}  // namespace opwright::cli
