// How the outcome of a traced program is told.
#pragma once

#include <string>

#include "cli/command.h"
#include "jobs/trace_program.h"

namespace opwright::cli {

// What the stand-ins for device traces did, for people.
std::string device_trace_text(const launch::DeviceTraceCalls& calls);
inline constexpr char kNoDeviceTraces[] =
    "the program asked for a device trace (begin_trace_capture), which the mock device does not have; "
    "--stub-device-trace puts stand-ins in its place";

// The summary to standard output, what was lost or not done to standard error as well.
void report_traced(const jobs::TracedItem& item, const jobs::TracedOutcome& outcome, CommandEnv& env);

}  // namespace opwright::cli
