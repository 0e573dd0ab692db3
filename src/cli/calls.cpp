#include <fmt/format.h>

#include <array>
#include <optional>

#include "cli/call_flags.h"
#include "cli/call_list.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/query.h"
#include "jobs/call_selector.h"
#include "jobs/kept_trace.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    kWhereFlag, kOnlyFlag, kPhaseFlag, kLabelFlag, kRangeFlag, kCallLimitFlag, kWaitFlag,
};

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(format::CallFilter filter, call_filter_of(args));
  OPWRIGHT_TRY_ASSIGN(const std::size_t limit, count_of(args, "--limit", SIZE_MAX));
  OPWRIGHT_TRY_ASSIGN(const select::Selector selector, selector_of(args));
  OPWRIGHT_TRY_ASSIGN(const auto reader, open_store(args, env));
  OPWRIGHT_TRY_ASSIGN(const store::SequenceRow row, jobs::find_trace(*reader, args.positionals.front()));
  OPWRIGHT_TRY_ASSIGN(std::string bytes, reader->trace_bytes(row));
  OPWRIGHT_TRY_ASSIGN(format::NativeTrace trace,
                      format::NativeTrace::from_bytes(std::move(bytes), "trace " + jobs::short_id(row)));
  std::optional<jobs::CallSelector> selects;
  if (!args.value("--where").empty()) {
    selects.emplace(trace, selector);
    filter.also = [&](const format::NativeCall& call) { return selects->takes(call); };
  }
  list_calls(trace, filter, limit, env);
  if (selects && selects->not_understood() > 0)
    env.err << fmt::format("opwright: {} of which no configuration can be made; --where does not take them\n",
                           plural(static_cast<std::int64_t>(selects->not_understood()), "different call"));
  return kExitOk;
}

}  // namespace

const Command kCalls{
    "calls",
    "Show the calls of a trace that is in the store: in order, nested, with data flow.",
    "TRACE is the beginning of an id, or a name that one trace alone has ('opwright traces'). A tensor\n"
    "has a number: what '-> #20' gives, a later '(#20, …)' takes. --where is asked of each call.\n\n"
    "  opwright calls 3f2a91 --limit 20\n"
    "  opwright calls 3f2a91 --where 'op=matmul and memory=HEIGHT_SHARDED' --phase decode\n"
    "  opwright calls 3f2a91 --range 118:123 --format jsonl",
    "TRACE",
    1,
    1,
    kFlags,
    run,
    false,
    true};

}  // namespace opwright::cli
