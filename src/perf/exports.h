// A window for other tools: docs/formats/perf-exports.md says what each file is.
#pragma once

#include <string>
#include <string_view>

#include "perf/report.h"

namespace opwright::perf {

// Benchmark records as plain JSON, under the measurement names of the existing BenchmarkData. `step` "": the window's
// name.
std::string benchmark_text(const Report& report, std::string_view step);
// The thirteen columns of the existing table of device times, one line; what a report does not say stays empty.
std::string device_perf_csv(const Report& report, std::string_view step);
// Events as chrome://tracing and Perfetto read them: a track a device, a counter of its gaps. Each device begins at 0
// and runs through the window's rows, gap by gap and kernel by kernel: a report has no clock that devices share.
std::string chrome_trace_text(const Report& report);

}  // namespace opwright::perf
