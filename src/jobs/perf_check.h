// A profiler report held to its targets, and targets written from one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "jobs/perf_report.h"
#include "perf/gate.h"

namespace opwright::jobs {

struct GateRequest {
  PerfRequest perf;  // its window: only this one; "" every window that the targets name
  std::string targets;
  bool allow_missing = false, allow_incomplete = false;
};
Result<std::vector<perf::GateCheck>> check_perf(const GateRequest& request);

struct BaselineRequest {
  PerfRequest perf;  // its window: only this one; "" every window of the file
  std::string file;  // ends in .yaml or .yml: YAML, else JSON
  double margin_percent = 10;
  bool replace = false;  // a file that is there already is an error without it
};
// The names of the windows written.
Result<std::vector<std::string>> write_targets(const BaselineRequest& request);

}  // namespace opwright::jobs
