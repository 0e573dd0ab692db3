#include "format/native/trim.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "base/visible_text.h"
#include "cli/call_flags.h"
#include "cli/command.h"
#include "cli/output.h"

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
  std::error_code ignored;
  if (std::filesystem::equivalent(path, output, ignored))
    return fail(ErrorCode::kUsage, fmt::format("{}: trace and output are one file; give -o another name", output));
  OPWRIGHT_TRY_ASSIGN(format::NativeTrace trace, format::NativeTrace::open(path));
  OPWRIGHT_TRY_ASSIGN(format::FileOutput file, format::FileOutput::create(output));
  OPWRIGHT_TRY_ASSIGN(const format::TrimReport report, format::trim(trace, filter, file));
  OPWRIGHT_TRY(file.commit());

  std::uint64_t dropped = 0;
  JsonObject ops, losses;
  std::string names;
  for (const auto& [op, calls] : report.dropped) {
    dropped += calls;
    ops.add(op, static_cast<std::int64_t>(calls));
    names += fmt::format("{}{} {}", names.empty() ? "" : ", ", visible(op), grouped(static_cast<std::int64_t>(calls)));
  }
  const auto before = static_cast<std::int64_t>(trace.file().bytes().size());
  const auto after = static_cast<std::int64_t>(std::filesystem::file_size(output, ignored));
  std::string human =
      fmt::format("{} kept, {} dropped; {} -> {}, {}\n", plural(static_cast<std::int64_t>(report.kept), "call"),
                  grouped(static_cast<std::int64_t>(dropped)), size_text(before), size_text(after), visible(output));
  if (!names.empty()) human += fmt::format("dropped: {}\n", names);
  if (report.parents_dropped > 0)
    human += fmt::format("{} had a caller that is dropped; they stand under the next one that is kept, or alone\n",
                         plural(static_cast<std::int64_t>(report.parents_dropped), "call"));
  if (report.not_whole > 0)
    human += fmt::format("LOST {} x missing_value: their arguments are not whole in the file\n", report.not_whole);
  for (const auto& [kind, entry] : trace.damage().entries()) {
    losses.add(kind, static_cast<std::int64_t>(entry.count));
    human += fmt::format("LOST {} x {}: byte {}: {}\n", entry.count, kind, entry.offset, visible(entry.example));
  }
  JsonObject object;
  object.add("calls", static_cast<std::int64_t>(report.kept))
      .add_raw("dropped", ops.text())
      .add("parents_dropped", static_cast<std::int64_t>(report.parents_dropped))
      .add_raw("losses", losses.text())
      .add("bytes", after)
      .add("output", output);
  print_object(object,
               {{"calls", std::to_string(report.kept)},
                {"dropped", std::to_string(dropped)},
                {"bytes", std::to_string(after)},
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
