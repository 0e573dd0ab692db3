#include <fmt/format.h>

#include <array>

#include "cli/command.h"
#include "cli/device_flags.h"
#include "cli/interrupts.h"
#include "cli/output.h"
#include "cli/run_request.h"
#include "cli/shrink_view.h"
#include "jobs/ending.h"
#include "jobs/shrink_failure.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    Flag{"--case", "LINE", "one failing case: OP(name=value, …), as every failure prints it, or its name @054f8d1b"},
    Flag{"--after", "LINE", "a case that runs before it in its process; may be given again, in their order", true},
    Flag{"--case-id", "ID", "of a run: the failure of this case only (the beginning of its id, or of @KEY)"},
    kWhereFlag,
    Flag{"--op", "OP", "of a run: failures of this operation only; may be given again", true},
    Flag{"--outcome", "NAME", "of a run: only failures that ended so: failed, crashed, …", true},
    Flag{"--causes", "N", "of a run: at most so many causes (default 10)"},
    Flag{"--trials", "N", "at most so many trials a failure (default 200)"},
    Flag{"--budget", "SECONDS", "at most so long, all failures together (default 300)"},
    Flag{"--device", "DEVICE", "as of run; --case: sim:n150 where none is named, of a run: its own"},
    Flag{"--against", "DEVICE", "the failure is that this device says otherwise"},
    kPythonFlag,
    Flag{"--seed", "N", "--case: of the input data (default 1)"},
    Flag{"--data", "NAME", "--case: normal, uniform, positive, integers, zeros or ones (default normal)"},
    Flag{"--pcc", "X", "--case: threshold of the correlation instead of the operator's own"},
    Flag{"--timeout", "SECONDS", "of a trial (default 30; 5 once a hang is known)", true},
    kStartTimeoutFlag,
    kWaitFlag,
};

constexpr char kDetails[] =
    "RUN is the uid of a run, its beginning, last (the default) or last~1; one failure of each cause is taken.\n\n"
    "  opwright shrink --case 'ttnn.matmul(…)' --device sim:n300\n"
    "  opwright shrink                              every cause of the last run\n"
    "  opwright shrink last~1 @9f3c                 the failure of one configuration\n"
    "  opwright shrink --case 'ttnn.add(…)' --device sim:n150 --against ttnn:mock:n150\n\n"
    "Dimensions, ranks, arguments, dtypes, layouts, memory and data are made plainer as long as the case fails in the\n"
    "same way: same operation, outcome and kind of reason. Every trial runs in a worker. Then each thing that is left "
    "is\n"
    "taken away alone, to say what the failure needs. Exit code 0: every failure was shrunk; 3: one does not fail, or\n"
    "not every time.";

Result<jobs::ShrinkRequest> request_of(const ParsedArgs& args, const CommandEnv& env) {
  jobs::ShrinkRequest request;
  OPWRIGHT_TRY_ASSIGN(const jobs::SingleRun single, single_run_of(args, env));
  request.line = single.line;
  request.choice = single.choice;
  request.choice.budget.clear();
  request.choice.ops.clear();
  request.after = single.after;
  request.store = env.store;
  OPWRIGHT_TRY_ASSIGN(request.wait_ms, wait_ms(args));
  request.case_id = args.value("--case-id");
  request.filter.ops = args.all("--op");
  request.filter.outcomes = args.all("--outcome");
  for (const std::string& positional : args.positionals) {
    if (positional.starts_with('@'))
      request.case_id = positional;
    else
      request.run = positional;
  }
  const bool of_run = !args.positionals.empty() || !request.case_id.empty() || !request.filter.empty() ||
                      !request.choice.where.empty() || !args.value("--causes").empty();
  if (!request.line.empty() && of_run)
    return fail(ErrorCode::kUsage,
                "shrink --case is one case; RUN, @KEY, --case-id, --where, --op, --outcome and "
                "--causes choose failures of a run");
  if (request.line.empty() && !request.after.empty())
    return fail(ErrorCode::kUsage, "--after names what runs before the case of --case");
  OPWRIGHT_TRY_ASSIGN(request.causes, count_of(args, "--causes", request.causes));
  OPWRIGHT_TRY_ASSIGN(const std::size_t trials, count_of(args, "--trials", 200));
  OPWRIGHT_TRY_ASSIGN(const std::size_t seconds, count_of(args, "--budget", 300));
  if (trials < 3 || trials > 1'000'000) return fail(ErrorCode::kUsage, "--trials: from 3 to 1000000");
  if (seconds < 1) return fail(ErrorCode::kUsage, "--budget: at least 1 (seconds)");
  request.budget = {static_cast<int>(trials), static_cast<double>(seconds)};
  return request;
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const jobs::ShrinkRequest request, request_of(args, env));
  const Interrupts interrupts;
  jobs::ShrinkWatcher watcher;
  watcher.stop = [&] { return interrupts.count()->load(); };
  OPWRIGHT_TRY_ASSIGN(const jobs::ShrinkReport report, jobs::shrink_failures(request, watcher));
  std::string text;
  for (const jobs::ShrunkFailure& failure : report.failures) text += shrunk_text(failure);
  if (report.more > 0)
    text += fmt::format("{} more: --causes, --budget, or --op and --where to choose\n", plural(report.more, "cause"));
  print_object(JsonObject()
                   .add("run", report.run)
                   .add_raw("failures", shrunk_list_json(report))
                   .add("more", report.more)
                   .add_bool("interrupted", report.interrupted),
               {{"run", report.run}, {"failures", std::to_string(report.failures.size())}}, text, env);
  return jobs::exit_code(jobs::ending_of(report));
}

}  // namespace

const Command kShrink{"shrink", "Make failing cases as small as they still fail, and say what the failure needs.",
                      kDetails, "[RUN] [@KEY]",
                      0,        2,
                      kFlags,   run};

}  // namespace opwright::cli
