// What a traced run left in its folder, counted: for the summary of `trace`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace opwright::jobs {

struct TraceSummary {
  std::vector<std::string> files;
  std::int64_t bytes = 0;
  std::int64_t calls = 0, errors = 0, filtered = 0, lost = 0, thinned = 0, opaque = 0, cut = 0, unfinished = 0;
  double recorder_seconds = 0;
  double run_seconds = 0;                     // from first start to last look, over the processes
  std::map<std::string, std::int64_t> tests;  // outcome -> count
  std::map<std::string, std::int64_t> calls_by_op;
  std::map<std::string, std::int64_t> notes;  // "kind: text" -> how often
  std::vector<std::string> failed_tests;
  std::vector<std::string> unfinished_calls;  // calls during which a process ended
  std::vector<std::string> running_tests;     // tests during which a process ended
  std::vector<std::string> problems;          // files that could not be read, full disks

  double ns_per_call() const { return calls == 0 ? 0 : recorder_seconds * 1e9 / static_cast<double>(calls); }
};

// Reads the native traces of a folder. A file that cannot be read is a problem, not an error.
TraceSummary summarize(const std::string& folder);

}  // namespace opwright::jobs
