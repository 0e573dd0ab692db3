// Two profiler reports compared: files in, comparison out.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "jobs/perf_report.h"
#include "perf/config_match.h"
#include "perf/report_diff.h"

namespace opwright::jobs {

struct PerfPair {
  perf::Report a, b;
};
// Reads both, each on a thread of its own.
Result<PerfPair> read_perf_pair(const PerfRequest& a, const PerfRequest& b);

}  // namespace opwright::jobs
