// Any bytes as a profiler report. What was read is counted: rows are samples, host operations, signposts or troubles;
// no sum is made of rows that have no time.
#include <string>

#include "jobs/perf_report.h"
#include "laws.h"
#include "perf/report_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = opwright::fuzz::text_of(data, size);
  const opwright::fuzz::MemoryFile file(text);
  auto recording = opwright::perf::read_one(file.path());
  if (!recording) {
    opwright::fuzz::require(!recording.error().message.empty(), "an error says what is wrong");
    return 0;
  }
  const bool no_times = recording->time_source() == opwright::perf::TimeSource::kNone;
  const auto report = opwright::jobs::report_of(std::move(*recording), {.window = "*"});
  opwright::fuzz::require(report.has_value(), "the whole file is always a window");
  if (!report) return 0;
  const opwright::perf::Coverage& coverage = report->reduced.coverage;
  opwright::fuzz::require(
      coverage.device_rows + coverage.captured_rows == static_cast<std::int64_t>(report->recording.samples.size()),
      "every sample is counted");
  opwright::fuzz::require(coverage.operations - coverage.left_out_operations ==
                              report->reduced.iterations * static_cast<std::int64_t>(report->reduced.positions.size()),
                          "every operation has its place");
  opwright::fuzz::require(!no_times || !opwright::perf::has(report->reduced.kernel_ns), "no time is made of nothing");
  opwright::fuzz::require(!opwright::perf::report_json(*report, true).text().empty(), "it can be printed");
  for (const auto like :
       {opwright::perf::Like::kGptOss, opwright::perf::Like::kDeepSeek, opwright::perf::Like::kDetailed})
    opwright::perf::add_up_like(like, report->recording, report->window);
  return 0;
}
