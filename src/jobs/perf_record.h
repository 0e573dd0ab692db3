// A program run under the library's profiler, and its own report found.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "launch/watched_program.h"

namespace opwright::jobs {

struct RecordRequest {
  std::vector<std::string> command;
  std::string folder = "opwright-profiles";  // each run has one of its own in it
  double total_seconds = 900, silent_seconds = 300, late_seconds = 60;
  std::string reset_command;                  // run by the shell after a run that had to be ended
  std::int64_t op_support_count = 10000;      // operations that the profiler keeps
  std::vector<std::string> profiler_options;  // more words for it
};

enum class RecordOutcome {
  kReported,       // the report is there, and the program ended well
  kProgramFailed,  // by its exit status; there may be a report all the same
  kStopped,        // too long, or silent, or interrupted
  kNoReport,       // the program ended well, and nothing was written
};
std::string_view name_of(RecordOutcome outcome);  // "reported"

struct Recorded {
  RecordOutcome outcome = RecordOutcome::kNoReport;
  std::string run;     // its id
  std::string folder;  // of this run: run.json, program.log, and what the profiler writes
  std::string log;
  std::string report;  // "": none
  launch::WatchedEnd end;
  std::string why;                 // one sentence, where it is not kReported
  std::string reset;               // what became of the reset command; "" it was not run
  std::vector<std::string> words;  // what was started, secrets masked
};

// `output` gets what the program prints, as it comes. An error: it could not be started, or its reports are ambiguous.
Result<Recorded> record_perf(const RecordRequest& request, const std::function<void(std::string_view)>& output);

}  // namespace opwright::jobs
