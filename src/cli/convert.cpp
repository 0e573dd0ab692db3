#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/near_names.h"
#include "base/visible_text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "jobs/convert_trace.h"

namespace opwright::cli {
namespace {

using format::Conversion;

constexpr std::array kFlags{
    Flag{"--to", "FORMAT", "native, per-op or jsonl"},
    Flag{"--output", "PATH",
         "file, or folder for per-op (short: -o), whole or not at all; jsonl: default standard output"},
    Flag{"--like-existing", "",
         "per-op: only what the library's own tracer sees, under its numbers (no tensor methods, no functions that are "
         "no operation)"},
};
constexpr std::array<std::string_view, 3> kFormats{"native", "per-op", "jsonl"};

void report(const Conversion& conversion, const std::string& to, const std::string& output, CommandEnv& env) {
  JsonObject dropped, losses, examples;
  std::string human = fmt::format("{} written as {}{}{}\n", plural(static_cast<std::int64_t>(conversion.calls), "call"),
                                  to, output.empty() ? "" : " to ", visible(output));
  std::string names;
  for (const auto& [what, count] : conversion.dropped) {
    dropped.add(what, static_cast<std::int64_t>(count));
    names += fmt::format("{}{} {}", names.empty() ? "" : ", ", what, grouped(static_cast<std::int64_t>(count)));
  }
  if (!names.empty()) human += fmt::format("no place for: {}\n", names);
  for (const auto& [kind, lost] : conversion.losses) {
    losses.add(kind, static_cast<std::int64_t>(lost.count));
    examples.add(kind, visible(lost.example));
    human +=
        fmt::format("LOST {} x {}: {}\n", grouped(static_cast<std::int64_t>(lost.count)), kind, visible(lost.example));
  }
  if (output.empty() || output == "-") {  // standard output is the trace
    env.err << human;
    return;
  }
  JsonObject object;
  object.add("calls", static_cast<std::int64_t>(conversion.calls))
      .add("to", to)
      .add("output", output)
      .add_raw("dropped", dropped.text())
      .add_raw("losses", losses.text())
      .add_raw("loss_examples", examples.text());
  print_object(object, {{"calls", std::to_string(conversion.calls)}, {"to", to}, {"output", output}}, human, env);
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  const std::string to = args.value("--to");
  const std::string output = args.value("--output");
  if (std::find(kFormats.begin(), kFormats.end(), to) == kFormats.end()) {
    const auto near = near_names(to, {kFormats.begin(), kFormats.end()});
    return fail(ErrorCode::kUsage,
                to.empty() ? "convert needs --to native, per-op or jsonl"
                           : fmt::format("--to {}: choose native, per-op or jsonl{}", to, did_you_mean(near)));
  }
  if (output.empty() && to != "jsonl") return fail(ErrorCode::kUsage, fmt::format("convert --to {} needs -o PATH", to));
  jobs::ConvertOptions options;
  options.input = args.positionals.front();
  options.to = to == "native"   ? jobs::TraceFormat::kNative
               : to == "per-op" ? jobs::TraceFormat::kPerOp
                                : jobs::TraceFormat::kJsonl;
  options.output = output;
  options.like_existing = args.is_set("--like-existing");
  if (to == "jsonl" && (output.empty() || output == "-")) {
    options.write = [&env](std::string_view lines) -> Status {
      env.out << lines;
      return {};
    };
  }
  OPWRIGHT_TRY_ASSIGN(const Conversion conversion, jobs::convert_trace(options));
  report(conversion, to, output, env);
  return kExitOk;
}

}  // namespace

const Command kConvert{
    "convert",
    "Turn a trace into another format, call by call: native, per-op files, op JSONL.",
    "IN is a native trace, a per-op file or folder, or op JSONL. Per-op files are, byte for byte, what the\n"
    "library's own tracer writes. What the new format has no place for is listed by name.\n\n"
    "  opwright convert trace-1234.opwt --to per-op -o operation_parameters\n"
    "  opwright convert operation_parameters --to native -o trace.opwt\n"
    "  opwright convert trace-1234.opwt --to jsonl | head",
    "IN",
    1,
    1,
    kFlags,
    run,
    false,
    true};

}  // namespace opwright::cli
