#include "jobs/trace_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "format/native/call_stream.h"
#include "format/native/native_trace.h"
#include "jobs/native_traces.h"

namespace opwright::jobs {
namespace {

std::string_view op_of(format::NativeTrace& trace, const format::NativeCall& call) {
  const format::NativeValue* value = trace.values().call(call.call);
  return value == nullptr ? std::string_view("(unreadable)") : value->text;
}

void add(TraceSummary& summary, format::NativeTrace& trace) {
  const capture::Header& header = trace.header();
  summary.calls += static_cast<std::int64_t>(header.calls);
  summary.errors += static_cast<std::int64_t>(header.errors);
  summary.filtered += static_cast<std::int64_t>(header.calls_filtered);
  summary.lost += static_cast<std::int64_t>(header.calls_lost);
  summary.thinned += static_cast<std::int64_t>(header.calls_thinned);
  summary.opaque += static_cast<std::int64_t>(header.opaque);
  summary.cut += static_cast<std::int64_t>(header.cut);
  if (header.state != static_cast<std::uint32_t>(capture::State::kClosed) && header.running_test[0] != '\0') {
    summary.running_tests.emplace_back(header.running_test, ::strnlen(header.running_test, sizeof header.running_test));
  }
  const auto rate = static_cast<double>(std::max<std::uint64_t>(1, header.ticks_per_second));
  summary.recorder_seconds += static_cast<double>(header.recorder_ticks) / rate;
  if (header.last_ticks > header.start_ticks)
    summary.run_seconds += static_cast<double>(header.last_ticks - header.start_ticks) / rate;
  if (header.state == static_cast<std::uint32_t>(capture::State::kDiskFull)) {
    summary.problems.push_back(
        fmt::format("{}: no space was left; {} calls were not recorded", trace.path(), header.calls_lost));
  }
  for (const format::TestOutcome& test : trace.tests()) {
    ++summary.tests[std::string(test.outcome)];
    if (test.outcome == "failed") summary.failed_tests.emplace_back(test.id);
  }
  for (const format::Note& note : trace.notes()) ++summary.notes[fmt::format("{}: {}", note.kind, note.text)];
  std::unordered_map<format::ValueId, std::int64_t*> counters;
  format::CallStream calls(trace);
  std::int64_t streamed = 0;
  while (const format::NativeCall* call = calls.next()) {
    ++streamed;
    std::int64_t*& counter = counters[call->call];
    if (counter == nullptr) {
      counter = &summary.calls_by_op[std::string(op_of(trace, *call))];
      trace.values().forget();
    }
    ++*counter;
    if (!call->finished) {
      ++summary.unfinished;
      if (summary.unfinished_calls.size() < 3) summary.unfinished_calls.emplace_back(op_of(trace, *call));
    }
  }
  // The header of a killed process lags a moment behind its records.
  summary.calls += std::max<std::int64_t>(0, streamed - static_cast<std::int64_t>(header.calls));
  for (const auto& [kind, entry] : trace.damage().entries())
    summary.problems.push_back(fmt::format("{}: {} x {}: {}", trace.path(), entry.count, kind, entry.example));
}

}  // namespace

TraceSummary summarize(const std::string& folder) {
  TraceSummary summary;
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    summary.problems.push_back(
        fmt::format("{}: the trace's folder is gone, and with it what was recorded; was it removed while the program "
                    "ran? --output FOLDER puts it elsewhere",
                    folder));
    return summary;
  }
  const Result<std::vector<std::string>> files = native_traces_at(folder);
  if (!files) return summary;  // no process imported the library
  summary.files = *files;
  for (const std::string& file : summary.files) {
    std::error_code ignored;
    summary.bytes += static_cast<std::int64_t>(std::filesystem::file_size(file, ignored));
    Result<format::NativeTrace> trace = format::NativeTrace::open(file);
    if (!trace) {
      summary.problems.push_back(trace.error().message);
      continue;
    }
    add(summary, *trace);
  }
  return summary;
}

}  // namespace opwright::jobs
