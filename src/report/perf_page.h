// A window of a profiler report as one page: time line, treemap of time by operator, positions, and what changed since
// another report. No network, no second file; made as docs/decisions/0013-report-page.md says.
#pragma once

#include <string>

#include "perf/report.h"

namespace opwright::report {

inline constexpr std::size_t kMostPositions = 5000;  // on the page; the longest stay, and it says how many do not

// `before`: null, or what it is compared with.
std::string perf_page(const perf::Report& report, const perf::Report* before);

}  // namespace opwright::report
