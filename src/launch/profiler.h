// A program under the library's profiler, which is the Python module `tracy`: what is called, with which environment,
// and where the report of this run and of no other will be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/environment.h"
#include "launch/python_probe.h"

namespace opwright::launch {

struct ProfilerRun {
  std::string id;      // names the report: the profiler puts it into the path of it
  std::string folder;  // absolute; of this run alone
  std::int64_t op_support_count = 10000;
  std::vector<std::string> options;  // more words for the profiler
};

// The Python of the command, and that it has the profiler. Says what is missing and what to do.
Result<PythonProbe> find_profiler(const std::vector<std::string>& command, const Environment& environment);

// The words that start `command` under the profiler, the Python first. The profiler hands its words to a shell, so
// those of the command are quoted; one that it cannot start (`python -c`) is an error.
Result<std::vector<std::string>> profiled_command(const std::vector<std::string>& command, const PythonProbe& python,
                                                  const ProfilerRun& run, const Environment& environment);

void add_profiling(Environment& environment, const PythonProbe& python, const ProfilerRun& run);

// The report of this run in its folder; "" where there is none yet. More than one is an error: none is guessed.
Result<std::string> find_report(const ProfilerRun& run);

}  // namespace opwright::launch
