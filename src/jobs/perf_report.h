// Profiler reports for whoever asks: files in, one window explained out.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "perf/like.h"
#include "perf/report.h"

namespace opwright::jobs {

struct PerfRequest {
  std::vector<std::string> paths;
  perf::Together together = perf::Together::kOneFile;
  std::string window;           // perf::choose_window
  std::int64_t devices = 0;     // how many there must be; 0: any
  std::int64_t device = -1;     // only this one
  std::int64_t iterations = 0;  // 0: found
  std::string board;            // "": from the report
};

// Reads the files, chooses the window, reduces and explains it.
Result<perf::Report> read_perf(const PerfRequest& request);
// Of a recording that is there already.
Result<perf::Report> report_of(perf::Recording recording, const PerfRequest& request);

}  // namespace opwright::jobs
