// A recorded sequence again: the trace found and opened, the device chosen, the calls replayed.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "exec/clock/profile_csv.h"
#include "format/conversion.h"
#include "format/native/native_trace.h"
#include "jobs/device_program.h"
#include "replay/replay.h"

namespace opwright::jobs {

struct RecordedTrace {
  format::NativeTrace trace;
  std::string name;               // as a command line names it again
  format::Conversion conversion;  // what was lost where it was another format
};

// `wanted` is a file or folder that `convert` reads; with '@' in front, or where there is no such file, a trace of the
// store by the beginning of its id or by its name.
Result<RecordedTrace> open_recorded(const std::string& wanted, const std::string& store, int wait_ms);

struct ReplayRequest {
  std::string device = "sim";  // sim and null without a board: the one that the trace was recorded on, else n150
  ProgramSettings program;
  replay::Options options;
  bool perf_force = false;  // options.perf: also on a machine that is too busy
  std::string profile_csv;  // of a simulated device: its clock as a profiler report, to this file; "" none
};

struct ReplayOutcome {
  replay::Report report;
  Capabilities device;
  std::optional<ProfileCsv::Counts> profile;
  std::string too_busy;  // why the times are not to be believed; "" they are
};

Result<ReplayOutcome> replay_trace(RecordedTrace& recorded, const ReplayRequest& request,
                                   const replay::OnStep& on_step);

}  // namespace opwright::jobs
