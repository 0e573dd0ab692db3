// One command of `trace`, what became of it, and how that is told.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "jobs/ingest.h"
#include "jobs/trace_summary.h"
#include "launch/mock.h"
#include "launch/program.h"

namespace opwright::cli {

struct TracedItem {
  std::vector<std::string> command;
  std::string shown;
};

// What became of one command.
struct TracedOutcome {
  launch::Ended ended;
  std::string folder;
  jobs::TraceSummary summary;
  std::optional<jobs::ImportReport> imported;
  std::vector<std::string> side_files;
  std::vector<std::string> not_done;                     // what should have followed the program, and why it did not
  std::optional<launch::DeviceTraceCalls> device_trace;  // on a mock board
  bool apart = false;  // calls that were not imported because their test or program failed
  bool kept = false;
};

// What the stand-ins for device traces did, for people.
std::string device_trace_text(const launch::DeviceTraceCalls& calls);
inline constexpr char kNoDeviceTraces[] =
    "the program asked for a device trace (begin_trace_capture), which the mock device does not have; "
    "--stub-device-trace puts stand-ins in its place";

// The summary to standard output, what was lost or not done to standard error as well.
void report_traced(const TracedItem& item, const TracedOutcome& outcome, CommandEnv& env);

}  // namespace opwright::cli
