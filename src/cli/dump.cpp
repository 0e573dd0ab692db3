#include <array>

#include "cli/call_flags.h"
#include "cli/call_list.h"
#include "cli/command.h"
#include "jobs/native_traces.h"

namespace opwright::cli {
namespace {

using format::NativeTrace;

constexpr std::array kFlags{
    kOnlyFlag, kPhaseFlag, kLabelFlag, kRangeFlag, kCallLimitFlag,
};

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const format::CallFilter filter, call_filter_of(args));
  OPWRIGHT_TRY_ASSIGN(const std::size_t limit, count_of(args, "--limit", SIZE_MAX));
  OPWRIGHT_TRY_ASSIGN(const std::vector<std::string> paths, jobs::native_traces_at(args.positionals.front()));
  for (const std::string& path : paths) {
    OPWRIGHT_TRY_ASSIGN(NativeTrace trace, NativeTrace::open(path));
    list_calls(trace, filter, limit, env);
  }
  return kExitOk;
}

}  // namespace

const Command kDump{
    "dump",
    "Show what a native trace holds: facts, tests, notes, and its calls in order, nested.",
    "TRACE is a native trace (.opwt), plain, .gz or .zst, or a folder of them. --format jsonl gives one\n"
    "object a line: tensors and configurations once, then the calls that refer to them\n"
    "(docs/formats/json-output.md).\n\n"
    "  opwright dump trace-1234.opwt --only linear --limit 20\n"
    "  opwright dump trace-1234.opwt --range 118:123 --format jsonl",
    "TRACE",
    1,
    1,
    kFlags,
    run,
    false,
    true};

}  // namespace opwright::cli
