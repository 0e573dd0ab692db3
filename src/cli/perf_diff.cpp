#include "jobs/perf_diff.h"

#include <fmt/format.h>

#include <array>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/perf_diff_view.h"
#include "perf/report_diff_json.h"
#include "perf/report_json.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    Flag{"--window", "NAME", "this window of both; NAME#2 of several, FROM..TO, '*' the whole file"},
    Flag{"--window-a", "NAME", "the window of A, where it is called otherwise"},
    Flag{"--window-b", "NAME", "the window of B"},
    Flag{"--iterations", "N", "that each window has N iterations (default: found as the period of its operations)"},
    Flag{"--device", "N", "only rows of this device"},
    Flag{"--config-only", "", "no times: where in B the operations of A are, and what differs if nowhere"},
    Flag{"--ignore", "FIELD", "a field that does not count: fidelity, attributes.NAME, 'input 0 memory', …", true},
    Flag{"--all", "", "every position, not only the 40 with the largest changes"},
};

constexpr char kDetails[] =
    "A and B are reports of the profiler, before and after. Operations are aligned by what they are (operation,\n"
    "shapes, dtypes, memory, attributes): the same, another configuration, only in A, only in B. A time differs\n"
    "where an interval over the iterations says so; with fewer than 3 iterations on a side nobody can tell.\n"
    "Exit status 1: operations, configurations or times differ.\n\n"
    "  opwright perf diff before.csv after.csv --window PERF_DECODE\n"
    "  opwright perf diff one.csv one.csv --window-a LONG_GELU_B0 --window-b LONG_GELU_F4\n"
    "  opwright perf diff fused_test.csv module.csv --config-only";

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  jobs::PerfRequest requests[2];
  OPWRIGHT_TRY_ASSIGN(const std::size_t iterations, count_of(args, "--iterations", 0));
  for (int side = 0; side < 2; ++side) {
    requests[side].paths = {args.positionals[static_cast<std::size_t>(side)]};
    requests[side].window = args.value(side == 0 ? "--window-a" : "--window-b", args.value("--window"));
    requests[side].iterations = static_cast<std::int64_t>(iterations);
    if (args.value("--device").empty()) continue;
    OPWRIGHT_TRY_ASSIGN(const std::size_t device, count_of(args, "--device", 0));
    requests[side].device = static_cast<std::int64_t>(device);
  }
  const std::vector<std::string> ignored = args.all("--ignore");
  OPWRIGHT_TRY_ASSIGN(const jobs::PerfPair pair, jobs::read_perf_pair(requests[0], requests[1]));
  const std::size_t most = args.is_set("--all") ? SIZE_MAX : 40;
  if (args.is_set("--config-only")) {
    OPWRIGHT_TRY_ASSIGN(const perf::ConfigMatch match, perf::match_configs(pair.a, pair.b, ignored));
    if (env.format == OutputFormat::kTable)
      print_config_match(pair.a, pair.b, match, ignored, most, env);
    else
      print_object(perf::config_match_json(pair.a, pair.b, match, ignored),
                   {{"matches", std::to_string(match.equal.size())}, {"named", std::to_string(match.named.size())}}, "",
                   env);
    return match.equal.empty() ? kExitDifference : kExitOk;
  }
  const perf::ReportDiff diff = perf::diff_reports(pair.a, pair.b, ignored);
  if (env.format == OutputFormat::kTable)
    print_diff(pair.a, pair.b, diff, most, env);
  else if (env.format == OutputFormat::kCsv)
    print(diff_table(pair.a, pair.b, diff), env);
  else
    print_object(perf::diff_json(pair.a, pair.b, diff), {}, "", env);
  return diff.same_operations() && !diff.times_differ() ? kExitOk : kExitDifference;
}

}  // namespace

const Command kPerfDiff{
    "perf diff", "Compare two profiler reports, position by position.", kDetails, "A B", 2, 2, kFlags, run, false,
    true};

}  // namespace opwright::cli
