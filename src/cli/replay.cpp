#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "cli/call_flags.h"
#include "cli/command.h"
#include "cli/device_flags.h"
#include "cli/interrupts.h"
#include "cli/output.h"
#include "cli/perf_flags.h"
#include "cli/query.h"
#include "cli/replay_view.h"
#include "jobs/call_selector.h"
#include "jobs/ending.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    Flag{"--device", "DEVICE",
         "sim (default, on the board of the trace), sim:BOARD, null, ttnn, ttnn:mock:BOARD, exec:COMMAND"},
    kOnlyFlag,
    kPhaseFlag,
    kLabelFlag,
    kRangeFlag,
    kWhereFlag,
    Flag{"--until", "CALL", "stop behind this call"},
    Flag{"--jsonl", "FILE", "op JSONL, instead of TRACE"},
    Flag{"--index", "N", "with --jsonl: this record alone, from 0"},
    Flag{"--assume-recent", "", "a tensor that could be one of several earlier results is the latest of them"},
    Flag{"--assume-layout", "L", "tile or row_major: of tensors whose layout the trace does not say, as in op JSONL"},
    Flag{"--seed", "N", "of the data that is made (default 1)"},
    Flag{"--data", "KIND", "of the data that is made: normal (default), uniform, positive, integers"},
    Flag{"--pcc", "P", "threshold of the local judgement instead of the operator's own"},
    Flag{"--global-pcc", "P", "below it the chain from the start is beyond its bound (default 0.99)"},
    Flag{"--no-chain", "", "judge each call alone, without the chain from the start: less memory, less time"},
    Flag{"--max-work", "N", "skip calls of more multiply-adds (default 4e10)"},
    Flag{"--max-elements", "N", "skip calls whose tensors have more elements in all (default 2^28)"},
    Flag{"--save", "DIR", "keep what each call made, and was given from outside, as .npy with .json beside it"},
    Flag{"--profile-csv", "FILE",
         "simulated devices: what their clock says, as a profiler report (docs/formats/profile-csv.md)"},
    Flag{"--perf", "", "time each call that is right, on its own inputs (docs/formats/perf.md)"},
    kPerfIterationsFlag,
    kPerfDeviceIterationsFlag,
    kPerfTraceFlag,
    kPerfCacheFlag,
    kPerfForceFlag,
    kPythonFlag,
    kStartTimeoutFlag,
    kWaitFlag,
};

Result<double> number_of(const ParsedArgs& args, std::string_view flag, double otherwise, double least, double most) {
  const std::string text = args.value(flag);
  if (text.empty()) return otherwise;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool within = number >= least && number <= most;  // no NaN is
  if (error != std::errc() || end != text.data() + text.size() || !within)
    return fail(ErrorCode::kUsage, fmt::format("{} {}: a number from {:g} to {:g}", flag, text, least, most));
  return number;
}

Result<std::uint64_t> call_number(const std::string& text, std::string_view what) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    return fail(ErrorCode::kUsage,
                fmt::format("{} '{}' is no number of a call; 'opwright calls' and 'dump' show them", what, text));
  return number;
}

struct Asked {
  std::string trace;
  std::optional<std::uint64_t> call;  // this one alone
};

Result<Asked> asked_of(const ParsedArgs& args) {
  const std::string jsonl = args.value("--jsonl"), index = args.value("--index");
  const auto& words = args.positionals;
  if (!index.empty() && jsonl.empty()) return fail(ErrorCode::kUsage, "--index needs --jsonl FILE");
  if (jsonl.empty() == words.empty())
    return fail(ErrorCode::kUsage, words.empty() ? "replay needs a TRACE, or --jsonl FILE"
                                                 : "replay takes a TRACE or --jsonl FILE, not both");
  Asked asked{jsonl.empty() ? words.front() : jsonl, std::nullopt};
  if (words.size() > 1) {
    OPWRIGHT_TRY_ASSIGN(asked.call, call_number(words[1], "CALL"));
  } else if (!index.empty()) {
    OPWRIGHT_TRY_ASSIGN(const std::uint64_t number, call_number(index, "--index"));
    asked.call = number + 1;
  }
  return asked;
}

Result<jobs::ReplayRequest> request_of(const ParsedArgs& args) {
  jobs::ReplayRequest request;
  request.device = args.value("--device", "sim");
  OPWRIGHT_TRY_ASSIGN(request.program, program_settings_of(args));
  replay::Options& options = request.options;
  OPWRIGHT_TRY_ASSIGN(options.filter, call_filter_of(args));
  if (const std::string until = args.value("--until"); !until.empty()) {
    OPWRIGHT_TRY_ASSIGN(options.until, call_number(until, "--until"));
  }
  options.assume_recent = args.is_set("--assume-recent");
  if (const std::string layout = args.value("--assume-layout"); !layout.empty()) {
    options.assume_layout = parse_layout(layout).value;
    if (options.assume_layout != Layout::kTile && options.assume_layout != Layout::kRowMajor)
      return fail(ErrorCode::kUsage, fmt::format("--assume-layout {}: tile or row_major", layout));
  }
  OPWRIGHT_TRY_ASSIGN(const std::size_t seed, count_of(args, "--seed", 1));
  options.run.recipe.seed = seed;
  if (const std::string data = args.value("--data"); !data.empty()) {
    const auto kind = parse_distribution(data);
    if (!kind) return fail(ErrorCode::kUsage, fmt::format("--data {}: normal, uniform, positive or integers", data));
    options.run.recipe.distribution = *kind;
  }
  if (!args.value("--pcc").empty()) {
    OPWRIGHT_TRY_ASSIGN(options.run.pcc, number_of(args, "--pcc", 0.99, -1, 1));
  }
  OPWRIGHT_TRY_ASSIGN(options.global_pcc, number_of(args, "--global-pcc", options.global_pcc, -1, 1));
  OPWRIGHT_TRY_ASSIGN(options.most_work, number_of(args, "--max-work", options.most_work, 0, 1e18));
  OPWRIGHT_TRY_ASSIGN(const double elements,
                      number_of(args, "--max-elements", static_cast<double>(options.most_elements), 0, 1e12));
  options.most_elements = static_cast<std::int64_t>(elements);
  options.chain = !args.is_set("--no-chain");
  options.save = args.value("--save");
  request.profile_csv = args.value("--profile-csv");
  OPWRIGHT_TRY_ASSIGN(options.perf, perf_plan_of(args));
  request.perf_force = args.is_set("--perf-force");
  return request;
}

// What a repeated command needs to give the same.
std::string flags_again(const ParsedArgs& args) {
  std::string out;
  for (const std::string_view flag : {"--device", "--assume-layout", "--seed", "--data", "--pcc", "--global-pcc"})
    if (const std::string value = args.value(flag); !value.empty())
      out += fmt::format(" {} {}", flag, shell_word(value));
  for (const std::string_view flag : {"--assume-recent", "--no-chain"})
    if (args.is_set(flag)) out += fmt::format(" {}", flag);
  return out;
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const Asked asked, asked_of(args));
  OPWRIGHT_TRY_ASSIGN(jobs::ReplayRequest request, request_of(args));
  OPWRIGHT_TRY_ASSIGN(const select::Selector selector, selector_of(args));
  OPWRIGHT_TRY_ASSIGN(const int wait, wait_ms(args));
  OPWRIGHT_TRY_ASSIGN(jobs::RecordedTrace recorded, jobs::open_recorded(asked.trace, env.store, wait));
  format::CallFilter& filter = request.options.filter;
  if (asked.call) {
    filter.first = std::max(filter.first, *asked.call);
    filter.last = std::min(filter.last, *asked.call);
  }
  std::optional<jobs::CallSelector> selects;
  if (!args.value("--where").empty()) {
    selects.emplace(recorded.trace, selector);
    filter.also = [&](const format::NativeCall& call) { return selects->takes(call); };
  }
  const Interrupts interrupts;
  request.options.stop = [&] { return interrupts.count()->load() > 0; };
  ReplayView view(recorded.name, flags_again(args), env);
  OPWRIGHT_TRY_ASSIGN(const jobs::ReplayOutcome outcome,
                      jobs::replay_trace(recorded, request, [&](const replay::Step& step) { view.step(step); }));
  if (outcome.report.calls == 0)
    return fail(ErrorCode::kNotFound,
                asked.call ? fmt::format("{}: no call {} that can be replayed; 'opwright calls' and 'dump' show them",
                                         recorded.name, *asked.call)
                           : fmt::format("{}: no call is chosen", recorded.name));
  view.end(outcome);
  if (!outcome.too_busy.empty()) {
    env.err << fmt::format(
        "opwright: the times are not to be believed, the machine became busy: {}; --perf-force takes them\n",
        outcome.too_busy);
    return kExitFailed;
  }
  if (outcome.profile) env.err << fmt::format("opwright: {}: {}\n", request.profile_csv, words_of(*outcome.profile));
  if (selects && selects->not_understood() > 0)
    env.err << fmt::format("opwright: {} of which no configuration can be made; --where does not take them\n",
                           plural(static_cast<std::int64_t>(selects->not_understood()), "different call"));
  const jobs::Ending ending = jobs::ending_of(outcome);
  if (ending == jobs::Ending::kFailed)
    env.err << fmt::format("opwright: {}: none of {} was run; each outcome has its reason\n", recorded.name,
                           plural(static_cast<std::int64_t>(outcome.report.calls), "call"));
  return jobs::exit_code(ending);
}

}  // namespace

const Command kReplay{
    "replay",
    "Run recorded calls again, one or a sequence, with the data flow that was recorded.",
    "TRACE is a native trace, anything that 'convert' reads, or a trace of the store (@ID, or its name). With\n"
    "CALL, or one chosen by flags, that call alone. A result feeds the call that took it; writes in place and\n"
    "views are kept; other inputs are what the trace recorded of them, or made. Each call is judged on the\n"
    "inputs that the device had (local) and against references from the start on (global). Exit status 1 when\n"
    "a call fails its local judgement.\n\n"
    "  opwright replay trace-1234.opwt\n"
    "  opwright replay trace-1234.opwt 118 --device ttnn:mock:n150\n"
    "  opwright replay @3f2a91 --range 100:140 --save tensors\n"
    "  opwright replay --jsonl ops.jsonl --index 0",
    "TRACE [CALL]",
    0,
    2,
    kFlags,
    run,
    false,
    true};

}  // namespace opwright::cli
