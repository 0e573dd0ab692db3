#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "base/near_names.h"
#include "base/text.h"
#include "base/visible_text.h"
#include "cli/call_flags.h"
#include "cli/command.h"
#include "cli/output.h"
#include "format/conversion.h"
#include "format/jsonl/to_native.h"
#include "format/jsonl/writer.h"
#include "format/native/trim.h"
#include "format/per_op/folder_writer.h"
#include "format/per_op/per_op_reader.h"
#include "format/per_op/to_native.h"
#include "jobs/native_traces.h"

namespace opwright::cli {
namespace {

namespace fs = std::filesystem;
using format::Conversion;
using format::NativeTrace;

constexpr std::array kFlags{
    Flag{"--to", "FORMAT", "native, per-op or jsonl"},
    Flag{"--output", "PATH",
         "file, or folder for per-op (short: -o), whole or not at all; jsonl: default standard output"},
    Flag{"--like-existing", "",
         "per-op: only what the library's own tracer sees, under its numbers (no tensor methods, no functions that are "
         "no operation)"},
};
constexpr std::array<std::string_view, 3> kFormats{"native", "per-op", "jsonl"};

enum class Kind { kNative, kPerOp, kJsonl };

struct Source {
  std::string path;
  Kind kind;
  std::optional<Input> input = {};  // open already, where it is one file: a pipe is read once
};

Result<Source> source_at(const std::string& path) {
  std::error_code ignored;
  if (path != "-" && fs::is_directory(path, ignored)) {
    if (format::is_per_op_folder(path)) return Source{path, Kind::kPerOp};
    OPWRIGHT_TRY_ASSIGN(const std::vector<std::string> traces, jobs::native_traces_at(path));
    if (traces.size() > 1)
      return fail(ErrorCode::kUsage,
                  fmt::format("{}: {} native traces, one a process; convert them one by one, e.g. {}", path,
                              traces.size(), traces.front()));
    return Source{traces.front(), Kind::kNative};
  }
  OPWRIGHT_TRY_ASSIGN(Input input, Input::open(path));
  OPWRIGHT_TRY_ASSIGN(const std::string_view start, input.peek(64 * 1024));
  if (format::is_native_trace(start)) return Source{path, Kind::kNative, std::move(input)};
  const std::string_view first = trimmed(start.substr(0, start.find('\n')));
  if (first.starts_with('{') && first.find("\"op_name\"") != std::string_view::npos)
    return Source{path, Kind::kJsonl, std::move(input)};
  if (trimmed(start).starts_with('{') && start.find("\"operation_name\"") != std::string_view::npos)
    return Source{path, Kind::kPerOp};
  return fail(ErrorCode::kNotATrace,
              fmt::format("{}: not a trace of single calls; convert reads native traces, per-op files and folders, and "
                          "op JSONL ('opwright import' and 'export' take the others)",
                          path));
}

void join(Conversion& all, const Conversion& part) {
  for (const auto& [what, count] : part.dropped) all.drop(what, count);
  for (const auto& [kind, lost] : part.losses) all.lose(kind, lost.example, lost.count);
}

Result<NativeTrace> native_of(Source& source) {
  if (!source.input) return NativeTrace::open(source.path);
  return NativeTrace::from_input(*std::move(source.input), source.path == "-" ? "standard input" : source.path);
}

// Anything but a native trace goes through one, in memory.
Result<NativeTrace> opened(Source& source, Conversion& conversion) {
  if (source.kind == Kind::kNative) return native_of(source);
  format::MemoryOutput memory;
  if (source.kind == Kind::kPerOp) {
    OPWRIGHT_TRY_ASSIGN(const Conversion read, format::per_op_to_native(source.path, memory));
    join(conversion, read);
  } else {
    OPWRIGHT_TRY_ASSIGN(const Conversion read, format::jsonl_to_native(*source.input, memory));
    join(conversion, read);
  }
  return NativeTrace::from_bytes(std::move(memory).take(), source.path);
}

Result<Conversion> to_native(Source& source, const std::string& output) {
  OPWRIGHT_TRY_ASSIGN(format::FileOutput file, format::FileOutput::create(output));
  Conversion conversion;
  if (source.kind == Kind::kPerOp) {
    OPWRIGHT_TRY_ASSIGN(conversion, format::per_op_to_native(source.path, file));
  } else if (source.kind == Kind::kJsonl) {
    OPWRIGHT_TRY_ASSIGN(conversion, format::jsonl_to_native(*source.input, file));
  } else {
    OPWRIGHT_TRY_ASSIGN(NativeTrace trace, native_of(source));
    OPWRIGHT_TRY_ASSIGN(const format::TrimReport report, format::trim(trace, {}, file));
    conversion.calls = report.kept;
    for (const auto& [kind, entry] : trace.damage().entries()) conversion.lose(kind, entry.example, entry.count);
  }
  OPWRIGHT_TRY(file.commit());
  return conversion;
}

Result<Conversion> to_jsonl(NativeTrace& trace, const std::string& output, CommandEnv& env) {
  if (output.empty() || output == "-")
    return format::native_to_jsonl(trace, [&env](std::string_view lines) -> Status {
      env.out << lines;
      return {};
    });
  OPWRIGHT_TRY_ASSIGN(format::FileOutput file, format::FileOutput::create(output));
  OPWRIGHT_TRY_ASSIGN(Conversion conversion,
                      format::native_to_jsonl(trace, [&file](std::string_view lines) { return file.append(lines); }));
  OPWRIGHT_TRY(file.commit());
  return conversion;
}

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
  OPWRIGHT_TRY_ASSIGN(Source source, source_at(args.positionals.front()));
  Conversion conversion;
  if (to == "native") {
    OPWRIGHT_TRY_ASSIGN(conversion, to_native(source, output));
  } else {
    OPWRIGHT_TRY_ASSIGN(NativeTrace trace, opened(source, conversion));
    Result<Conversion> written = to == "per-op"
                                     ? format::native_to_per_op(trace, output, {args.is_set("--like-existing")})
                                     : to_jsonl(trace, output, env);
    if (!written) return fail(std::move(written).error());
    conversion.calls = written->calls;
    join(conversion, *written);
  }
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
