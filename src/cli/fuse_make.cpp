#include "jobs/fuse_make.h"

#include <fmt/format.h>

#include <array>

#include "base/secrets.h"
#include "base/words.h"
#include "cli/call_flags.h"
#include "cli/command.h"
#include "cli/interrupts.h"
#include "cli/output.h"

namespace opwright::cli {
namespace {

constexpr std::string_view kDetails =
    "Finds the sequence in all places where the model makes it, writes its test into a folder, and proves it in "
    "stages:\n"
    "baseline of the module, match, boundary, emitted files, unit test over seeds, substitution into the module,\n"
    "configurations, performance, single device, negative controls. Each stage has its log; the same command again "
    "goes\n"
    "on where it was. docs/how-to/fuse-operators.md\n\n"
    "Exit status: 0 all pass, 1 a stage failed, 2 wrong usage, 3 no match, 4 ambiguous (--strict), 5 the input cannot "
    "be\n"
    "read.\n\n"
    "Examples:\n"
    "  opwright fuse make --trace run.opwt --ops 'linear*2,multiply,linear' --name gated_mlp\n"
    "  opwright fuse make --trace run.opwt --range 120:131 --name norm_and_rope --phase decode";

constexpr std::array kFlags{
    Flag{"--trace", "TRACE", "where the sequence is: a trace file or folder, or a trace of the store"},
    Flag{"--module-trace", "TRACE", "of the module that the function goes into (default: the same)"},
    Flag{"--ops", "PATTERN", "the operations: 'linear,all_gather_async,slice*3'; names, globs, counts"},
    Flag{"--range", "A:B", "or the calls with these numbers"},
    Flag{"--label", "L", "or the calls under this label, e.g. 'layer0/mlp'"},
    Flag{"--name", "NAME", "of the test: letters, digits and _"},
    Flag{"--phase", "P", "decode, prefill, both (default), or any phase of the trace"},
    Flag{"--weights", "W", "random (default), or real: recorded contents go into data/"},
    Flag{"--out", "DIR", "new, empty, or made by this command before (default ./NAME)"},
    Flag{"--device", "DEVICE",
         "sim (default, on the board of the trace), sim:BOARD, or ttnn:mock:BOARD: the emitted file on the real "
         "library, too"},
    Flag{"--python", "PYTHON", "of ttnn:mock:BOARD: that has ttnn, torch and pytest (default: on PATH)"},
    Flag{"--seeds", "N", "that expectations are measured on (default 3); one more tests them"},
    Flag{"--strict", "", "more than one reading of the sequence is an error (exit status 4)"},
    Flag{"--explain", "STAGE", "print the evidence of this stage, too"},
    kWaitFlag,
};

Result<jobs::FuseMakeRequest> request_of(const ParsedArgs& args, const CommandEnv& env) {
  jobs::FuseMakeRequest request;
  request.trace = args.value("--trace");
  if (request.trace.empty() == args.positionals.empty())
    return fail(ErrorCode::kUsage, "fuse make needs one trace: --trace TRACE");
  if (request.trace.empty()) request.trace = args.positionals.front();
  request.module_trace = args.value("--module-trace");
  request.store = env.store;
  OPWRIGHT_TRY_ASSIGN(request.wait_ms, wait_ms(args));
  const std::string ops = args.value("--ops"), range = args.value("--range");
  request.wanted.label = args.value("--label");
  const int ways = (ops.empty() ? 0 : 1) + (range.empty() ? 0 : 1) + (request.wanted.label.empty() ? 0 : 1);
  if (ways != 1) return fail(ErrorCode::kUsage, "fuse make needs one of --ops, --range and --label");
  if (!ops.empty()) {
    OPWRIGHT_TRY_ASSIGN(request.wanted.pattern, fuse::Pattern::parse(ops));
  }
  if (!range.empty()) {
    format::CallFilter filter;
    if (const Status parsed = format::parse_range(range, filter); !parsed)
      return fail(ErrorCode::kUsage, "--range " + parsed.error().message);
    if (filter.last == UINT64_MAX) return fail(ErrorCode::kUsage, "--range A:B: both ends are needed");
    request.wanted.first = filter.first;
    request.wanted.last = filter.last;
  }
  const std::string phase = args.value("--phase", "both");
  if (phase != "both") request.wanted.phases = {phase.find('*') == std::string::npos ? "*" + phase + "*" : phase};
  request.name = args.value("--name");
  if (request.name.empty()) return fail(ErrorCode::kUsage, "fuse make needs --name NAME");
  const bool is_name = request.name.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string::npos &&
                       (request.name[0] < '0' || request.name[0] > '9');
  if (!is_name)
    return fail(ErrorCode::kUsage, fmt::format("--name {}: letters, digits and _, as Python takes it", request.name));
  const std::string weights = args.value("--weights", "random");
  if (weights != "random" && weights != "real")
    return fail(ErrorCode::kUsage, fmt::format("--weights {}: random or real", weights));
  request.real_weights = weights == "real";
  request.out = args.value("--out");
  request.device = args.value("--device", "sim");
  request.python = args.value("--python");
  OPWRIGHT_TRY_ASSIGN(const std::size_t seeds, count_of(args, "--seeds", 3));
  if (seeds < 1 || seeds > 100) return fail(ErrorCode::kUsage, "--seeds: a number from 1 to 100");
  request.seeds = static_cast<int>(seeds);
  request.strict = args.is_set("--strict");
  const std::string explain = args.value("--explain");
  if (!explain.empty() && std::ranges::find(fuse::kStages, explain) == fuse::kStages.end())
    return fail(ErrorCode::kUsage, fmt::format("--explain {}: one of {}", explain, fmt::join(fuse::kStages, ", ")));
  return request;
}

int tell(const Error& error, CommandEnv& env) {
  env.err << "opwright: " << masked(error.message) << '\n';
  return jobs::fuse_exit_code(error);
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(jobs::FuseMakeRequest request, request_of(args, env));
  const Interrupts interrupts;
  request.stop = [&] { return *interrupts.count() > 0; };
  const std::string explain = args.value("--explain");
  const bool is_table = env.format == OutputFormat::kTable;
  request.on_stage = [&](const fuse::Section& section) {
    if (!is_table) return;
    env.out << fmt::format("{:<14} {}{}{}\n", section.id, fuse::name_of(section.status),
                           section.is_reused ? " (as before)" : "",
                           section.reason.empty() ? "" : ": " + section.reason);
    if (section.id == explain) env.out << section.evidence;
  };
  const auto made = jobs::make_fused(request);
  if (!made) return tell(made.error(), env);
  if (!made->trouble.empty()) {
    env.err << "opwright: " << masked(made->trouble) << '\n';
    return made->exit;
  }
  const fuse::FusedTest& test = made->report.test;
  if (!is_table) {
    env.out << fuse::report_json(made->report);
    return made->exit;
  }
  for (const fuse::Finding& finding : test.findings)
    env.out << fmt::format("{:<14} {}\n", fuse::name_of(finding.code), finding.text);
  env.out << fmt::format("{}: {}, {}, {}; {}/report.md\n", test.name,
                         plural(static_cast<std::int64_t>(test.calls.size()), "call"),
                         plural(made->matches, "match", "matches"),
                         plural(static_cast<std::int64_t>(test.sets.size()), "parameter set"), made->folder);
  return made->exit;
}

}  // namespace

const Command kFuseMake{"fuse make", "Make a sequence of operators a fused test, and prove it.",
                        kDetails,    "[TRACE]",
                        0,           1,
                        kFlags,      run,
                        false,       true};

}  // namespace opwright::cli
