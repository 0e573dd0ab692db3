#include <fmt/format.h>

#include <array>

#include "base/visible_text.h"
#include "cli/call_flags.h"
#include "cli/command.h"
#include "cli/output.h"
#include "jobs/convert_trace.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    Flag{"--output", "FILE", "the new trace (short: -o), whole or not at all"},
    kOnlyFlag,
    kPhaseFlag,
    kLabelFlag,
    kRangeFlag,
};

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const format::CallFilter filter, call_filter_of(args));
  const std::string& path = args.positionals.front();
  const std::string output = args.value("--output");
  if (output.empty()) return fail(ErrorCode::kUsage, "trim needs -o FILE, where the smaller trace goes");
  if (filter.takes_all())
    return fail(ErrorCode::kUsage, "trim needs --only, --phase, --label or --range: which calls stay");
  OPWRIGHT_TRY_ASSIGN(const jobs::TrimmedTrace trimmed, jobs::trim_trace({path, output, filter}));
  const format::TrimReport& report = trimmed.calls;

  std::uint64_t dropped = 0;
  JsonObject ops, losses;
  std::string names;
  for (const auto& [op, calls] : report.dropped) {
    dropped += calls;
    ops.add(op, static_cast<std::int64_t>(calls));
    names += fmt::format("{}{} {}", names.empty() ? "" : ", ", visible(op), grouped(static_cast<std::int64_t>(calls)));
  }
  std::string human =
      fmt::format("{} kept, {} dropped; {} -> {}, {}\n", plural(static_cast<std::int64_t>(report.kept), "call"),
                  grouped(static_cast<std::int64_t>(dropped)), size_text(trimmed.bytes_before),
                  size_text(trimmed.bytes), visible(output));
  if (!names.empty()) human += fmt::format("dropped: {}\n", names);
  if (report.parents_dropped > 0)
    human += fmt::format("{} had a caller that is dropped; they stand under the next one that is kept, or alone\n",
                         plural(static_cast<std::int64_t>(report.parents_dropped), "call"));
  if (report.not_whole > 0)
    human += fmt::format("LOST {} x missing_value: their arguments are not whole in the file\n", report.not_whole);
  for (const auto& [kind, entry] : trimmed.damage.entries()) {
    losses.add(kind, static_cast<std::int64_t>(entry.count));
    human += fmt::format("LOST {} x {}: byte {}: {}\n", entry.count, kind, entry.offset, visible(entry.example));
  }
  JsonObject object;
  object.add("calls", static_cast<std::int64_t>(report.kept))
      .add_raw("dropped", ops.text())
      .add("parents_dropped", static_cast<std::int64_t>(report.parents_dropped))
      .add_raw("losses", losses.text())
      .add("bytes", trimmed.bytes)
      .add("output", output);
  print_object(object,
               {{"calls", std::to_string(report.kept)},
                {"dropped", std::to_string(dropped)},
                {"bytes", std::to_string(trimmed.bytes)},
                {"output", output}},
               human, env);
  return kExitOk;
}

}  // namespace

const Command kTrim{
    "trim",
    "Write a smaller native trace: the chosen calls, and what they need.",
    "Numbers, times, threads, tensors, facts and tests stay as they are. A kept call whose caller is not\n"
    "kept goes to the next one outwards. Dropped calls are counted in the new trace as filtered.\n\n"
    "  opwright trim trace-1234.opwt -o decode.opwt --phase decode\n"
    "  opwright trim trace-1234.opwt -o few.opwt --range 118:123 --only linear --only '*matmul*'",
    "TRACE",
    1,
    1,
    kFlags,
    run,
    false,
    true};

}  // namespace opwright::cli
