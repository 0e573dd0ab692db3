#include "jobs/convert_trace.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "base/text.h"
#include "format/jsonl/to_native.h"
#include "format/jsonl/writer.h"
#include "format/per_op/folder_writer.h"
#include "format/per_op/per_op_reader.h"
#include "format/per_op/to_native.h"
#include "jobs/native_traces.h"

namespace opwright::jobs {
namespace {

namespace fs = std::filesystem;
using format::Conversion;
using format::NativeTrace;

struct Source {
  std::string path;
  TraceFormat kind;
  std::optional<Input> input = {};  // open already, where it is one file: a pipe is read once
};

Result<Source> source_at(const std::string& path) {
  std::error_code ignored;
  if (path != "-" && fs::is_directory(path, ignored)) {
    if (format::is_per_op_folder(path)) return Source{path, TraceFormat::kPerOp};
    OPWRIGHT_TRY_ASSIGN(const std::vector<std::string> traces, native_traces_at(path));
    if (traces.size() > 1)
      return fail(ErrorCode::kUsage,
                  fmt::format("{}: {} native traces, one a process; convert them one by one, e.g. {}", path,
                              traces.size(), traces.front()));
    return Source{traces.front(), TraceFormat::kNative};
  }
  OPWRIGHT_TRY_ASSIGN(Input input, Input::open(path));
  OPWRIGHT_TRY_ASSIGN(const std::string_view start, input.peek(64 * 1024));
  if (format::is_native_trace(start)) return Source{path, TraceFormat::kNative, std::move(input)};
  const std::string_view first = trimmed(start.substr(0, start.find('\n')));
  if (first.starts_with('{') && first.find("\"op_name\"") != std::string_view::npos)
    return Source{path, TraceFormat::kJsonl, std::move(input)};
  if (trimmed(start).starts_with('{') && start.find("\"operation_name\"") != std::string_view::npos)
    return Source{path, TraceFormat::kPerOp};
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

// Anything but a native trace.
Result<Conversion> convert_to_native(Source& source, format::TraceOutput& output) {
  if (source.kind == TraceFormat::kPerOp) return format::per_op_to_native(source.path, output);
  return format::jsonl_to_native(*source.input, output);
}

// What is no native trace goes through one, in memory.
Result<NativeTrace> opened(Source& source, Conversion& conversion) {
  if (source.kind == TraceFormat::kNative) return native_of(source);
  format::MemoryOutput memory;
  OPWRIGHT_TRY_ASSIGN(const Conversion read, convert_to_native(source, memory));
  join(conversion, read);
  return NativeTrace::from_bytes(std::move(memory).take(), source.path);
}

Result<Conversion> write_native(Source& source, const std::string& output) {
  OPWRIGHT_TRY_ASSIGN(format::FileOutput file, format::FileOutput::create(output));
  Conversion conversion;
  if (source.kind != TraceFormat::kNative) {
    OPWRIGHT_TRY_ASSIGN(conversion, convert_to_native(source, file));
  } else {
    OPWRIGHT_TRY_ASSIGN(NativeTrace trace, native_of(source));
    OPWRIGHT_TRY_ASSIGN(const format::TrimReport report, format::trim(trace, {}, file));
    conversion.calls = report.kept;
    for (const auto& [kind, entry] : trace.damage().entries()) conversion.lose(kind, entry.example, entry.count);
  }
  OPWRIGHT_TRY(file.commit());
  return conversion;
}

Result<Conversion> write_jsonl(NativeTrace& trace, const ConvertOptions& options) {
  if (options.write) return format::native_to_jsonl(trace, options.write);
  OPWRIGHT_TRY_ASSIGN(format::FileOutput file, format::FileOutput::create(options.output));
  OPWRIGHT_TRY_ASSIGN(Conversion conversion,
                      format::native_to_jsonl(trace, [&file](std::string_view lines) { return file.append(lines); }));
  OPWRIGHT_TRY(file.commit());
  return conversion;
}

}  // namespace

Result<Conversion> convert_trace(const ConvertOptions& options) {
  OPWRIGHT_TRY_ASSIGN(Source source, source_at(options.input));
  if (options.to == TraceFormat::kNative) return write_native(source, options.output);
  Conversion conversion;
  OPWRIGHT_TRY_ASSIGN(NativeTrace trace, opened(source, conversion));
  OPWRIGHT_TRY_ASSIGN(const Conversion written,
                      options.to == TraceFormat::kPerOp
                          ? format::native_to_per_op(trace, options.output, {options.like_existing})
                          : write_jsonl(trace, options));
  conversion.calls = written.calls;
  join(conversion, written);
  return conversion;
}

Result<NativeTrace> open_as_native(const std::string& path, Conversion& conversion) {
  OPWRIGHT_TRY_ASSIGN(Source source, source_at(path));
  return opened(source, conversion);
}

Result<TrimmedTrace> trim_trace(const TrimOptions& options) {
  std::error_code ignored;
  if (fs::equivalent(options.input, options.output, ignored))
    return fail(ErrorCode::kUsage,
                fmt::format("{}: trace and output are one file; give -o another name", options.output));
  OPWRIGHT_TRY_ASSIGN(NativeTrace trace, NativeTrace::open(options.input));
  OPWRIGHT_TRY_ASSIGN(format::FileOutput file, format::FileOutput::create(options.output));
  TrimmedTrace done;
  OPWRIGHT_TRY_ASSIGN(done.calls, format::trim(trace, options.filter, file));
  OPWRIGHT_TRY(file.commit());
  done.damage = trace.damage();
  done.bytes_before = static_cast<std::int64_t>(trace.file().bytes().size());
  done.bytes = static_cast<std::int64_t>(fs::file_size(options.output, ignored));
  return done;
}

}  // namespace opwright::jobs
