// A trace as one of another format, call by call.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "format/conversion.h"
#include "format/native/call_filter.h"
#include "format/native/native_trace.h"
#include "format/native/trace_damage.h"
#include "format/native/trim.h"

namespace opwright::jobs {

enum class TraceFormat { kNative, kPerOp, kJsonl };

struct ConvertOptions {
  std::string input;  // a native trace, a per-op file or folder, op JSONL; "-" standard input
  TraceFormat to = TraceFormat::kNative;
  std::string output;          // a file, or a folder for per-op: whole or not at all
  bool like_existing = false;  // per-op: only what the library's own tracer sees, under its numbers
  // Set: op JSONL goes there, as it comes, instead of to `output`.
  std::function<Status(std::string_view lines)> write;
};

Result<format::Conversion> convert_trace(const ConvertOptions& options);

// Whatever `convert` reads, as a native trace in memory. What was lost on the way is added to `conversion`.
Result<format::NativeTrace> open_as_native(const std::string& path, format::Conversion& conversion);

struct TrimOptions {
  std::string input, output;  // two files
  format::CallFilter filter;  // which calls stay: not all
};

struct TrimmedTrace {
  format::TrimReport calls;
  format::TraceDamage damage;
  std::int64_t bytes_before = 0, bytes = 0;
};

Result<TrimmedTrace> trim_trace(const TrimOptions& options);

}  // namespace opwright::jobs
