#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "cli/command.h"
#include "cli/device_flags.h"
#include "cli/perf_flags.h"
#include "cli/run_many.h"
#include "cli/run_one.h"
#include "cli/run_request.h"
#include "cli/tolerance_flags.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    // What
    Flag{"--case", "LINE",
         "one case, in this process: OP(name=value, …), as every failure prints it, or its name @054f8d1b"},
    Flag{"--after", "LINE", "--case: a case that runs before it, in the same process; may be repeated, in their order",
         true},
    kWhereFlag,
    Flag{"--suite", "NAME",
         "model_traced (default: exactly the recorded configurations), all_cases (every "
         "combination of recorded values), sample; with --suites one of the file"},
    Flag{"--suites", "FILE.yaml", "suites of one's own (docs/formats/vectors.md)"},
    Flag{"--vectors", "PATH", "vectors of the existing framework: a file, or a folder with generation_manifest.json"},
    Flag{"--op", "OP", "only this operation; may be repeated", true},
    Flag{"--limit", "N", "the largest product that all_cases may make (default 100000)"},
    Flag{"--count", "N", "sample: how many (default 100)"},
    Flag{"--randomize", "SEED", "shuffle the order"},
    Flag{"--dedupe", "", "merge vectors with the same inputs and parameters"},
    Flag{"--keep-invalid", "", "also run configurations that were only ever seen to raise"},
    Flag{"--plan-order", "", "start the cases in the order of the plan, not what shows most first"},
    Flag{"--shard", "I/N", "only part I of N; which part a case is in never changes"},
    Flag{"--budget", "TIME",
         "end after 60s, 5m, 1h, having covered most; a case that still runs then has another tenth of it"},
    Flag{"--profile", "FILE", "--budget: cases weigh what they cost in this profiler report, not their calls"},
    Flag{"--profile-window", "NAME", "--profile: this window of it"},
    Flag{"--check", "", "check the calls and infer their outputs only, compute nothing"},
    Flag{"--dry-run", "", "say what would be run, and how long it may take"},
    // Where
    Flag{"--device", "DEVICE",
         "sim (each case on the board it was traced on, the default), sim:n300, sim:BOARD.json, null, ttnn, "
         "ttnn:mock:n150, exec:'PROGRAM …'"},
    Flag{"--against", "DEVICE", "run every case on a second device too, and say where they disagree"},
    kPythonFlag,
    Flag{"--jobs", "N", "workers at the same time (default: the machine's cores)"},
    // Data and judge
    Flag{"--seed", "N", "of the input data (default 1)"},
    Flag{"--data", "NAME",
         "plain inputs: normal N(0,1), uniform U(0,1), positive |N(0,1)|+0.1, integers, zeros, ones, special: NaN, "
         "infinities, denormals, … (default normal)"},
    Flag{"--pcc", "X", "threshold of the correlation instead of the operator's own"},
    Flag{"--metric", "NAME",
         "--case: also say what this PCC of the existing suites gives: pcc, pcc-2026-06, pcc-corrcoef, pcc-tt-lib"},
    Flag{"--recorded", "JSON", "--case: what its calls returned when they were traced, as a repeat line has it"},
    Flag{"--sample", "N", "judge about N elements of larger outputs (default 4194304)"},
    Flag{"--golden", "",
         "compare our references with the golden functions of the real library (device ttnn, with torch)"},
    Flag{"--mutate", "",
         "plant faults behind the comparer (cases that would not notice are vacuous), and ask which wrong uses of data "
         "would be noticed"},
    Flag{"--warm", "", "device programs: make each call twice, for a cold and a warm time"},
    Flag{"--profile-csv", "FILE",
         "simulated devices: what their clock says, as a profiler report (docs/formats/profile-csv.md)"},
    Flag{"--perf", "", "time the cases that are right, in rounds, one at a time (docs/formats/perf.md)"},
    kPerfIterationsFlag,
    kPerfDeviceIterationsFlag,
    Flag{"--perf-rounds", "N", "--perf: in so many rounds over all cases (default 5)"},
    kPerfTraceFlag,
    kPerfCacheFlag,
    kPerfForceFlag,
    // Limits
    Flag{"--timeout", "SECONDS", "of a case (default 30, more for large ones); OP=SECONDS or SUITE=SECONDS for some",
         true},
    kStartTimeoutFlag,
    Flag{"--memory", "SIZE", "of all workers together: 8G, 512M (default: 80 % of the machine)"},
    Flag{"--cpu-seconds", "N", "of one case (default: no limit)"},
    Flag{"--reset-cmd", "COMMAND", "run by the shell after a hang"},
    Flag{"--attribute", "WHICH",
         "which failures are repeated to find out who is to blame: once, one of each cause (operation and message), "
         "within "
         "10 % of the time (the default); all; none"},
    Flag{"--no-attribute", "", "the same as --attribute none"},
    Flag{"--fail-fast", "", "stop at the first failure"},
    kMaxFailedFlag,
    kMaxUnprovenFlag,
    kStrictVerdictsFlag,
    Flag{"--shrink", "", "make one failure of each new cause as small as it still fails, and say what it needs"},
    Flag{"--shrink-budget", "SECONDS", "--shrink: at most so long in all (default 300)"},
    // Course
    Flag{"--resume", "", "go on with the last run that was interrupted"},
    Flag{"--run", "RUN", "--resume: which run"},
    Flag{"--quiet", "", "print failures and the summary only"},
    kDurableFlag,
    kWaitFlag,
};

constexpr char kDetails[] =
    "  opwright run                                 all recorded configurations, each on the board it was traced on\n"
    "  opwright run --where 'model~llama' --device sim:n300 --budget 60s\n"
    "  opwright run --device ttnn:mock:n300         would the real library take them? (no numbers)\n"
    "  opwright run --device sim:n150 --against ttnn:mock:n150\n"
    "  opwright run --resume                        after Ctrl-C, a crash or a kill\n"
    "  opwright run --case 'ttnn.relu(input_tensor=tensor([1,1,32,64] BFLOAT16 TILE DEVICE memory(DRAM "
    "INTERLEAVED)))'\n\n"
    "Every case runs in a worker process: a crash, a hang or a lack of memory costs that case alone, and is repeated "
    "to\n"
    "find out who is to blame. A call is checked as the real library would check it, run on the device, and every "
    "output\n"
    "is compared with a reference in double precision. Results are in the store at once; 'opwright results' analyses\n"
    "them. Exit code 0: nothing failed; 1: something failed, or nothing was passed or accepted; 130: interrupted.";

// Flags that choose among cases or guide workers mean nothing to one case in this process: they are refused by name.
Status check_flags_of_one_case(const ParsedArgs& args) {
  constexpr std::array<std::string_view, 15> kOfOne{
      "--after", "--recorded", "--case",   "--device", "--against", "--python", "--seed",         "--data",
      "--pcc",   "--metric",   "--sample", "--golden", "--mutate",  "--check",  "--start-timeout"};
  for (const Flag& flag : kFlags) {
    const bool given = args.is_set(flag.name) || !args.all(flag.name).empty();
    if (given && std::ranges::find(kOfOne, flag.name) == kOfOne.end())
      return fail(ErrorCode::kUsage, std::string(flag.name) +
                                         " is for runs of many cases; --case runs one, in this "
                                         "process and without limits");
  }
  return {};
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  if (args.value("--case").empty()) {
    OPWRIGHT_TRY_ASSIGN(const jobs::RunRequest request, run_request_of(args, env));
    OPWRIGHT_TRY_ASSIGN(const std::size_t seconds, count_of(args, "--shrink-budget", 300));
    const bool is_shrunk = args.is_set("--shrink") || !args.value("--shrink-budget").empty();
    OPWRIGHT_TRY_ASSIGN(const jobs::Tolerance tolerance, tolerance_of(args));
    return run_many(request,
                    {.quiet = args.is_set("--quiet"),
                     .tolerance = tolerance,
                     .is_tolerance_told = has_tolerance(args),
                     .shrink_seconds = is_shrunk ? static_cast<double>(seconds) : 0},
                    env);
  }
  OPWRIGHT_TRY_ASSIGN(const jobs::SingleRun single, single_run_of(args, env));
  OPWRIGHT_TRY(check_flags_of_one_case(args));
  return run_one(single, env);
}

}  // namespace

const Command kRun{"run",    "Run cases on a device in isolated workers and judge them against independent references.",
                   kDetails, "",
                   0,        0,
                   kFlags,   run,
                   false,    true};

}  // namespace opwright::cli
