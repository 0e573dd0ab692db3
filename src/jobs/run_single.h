// One case in this process, without limits.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "exec/run_case.h"
#include "jobs/run_choice.h"
#include "model/case_record.h"

namespace opwright::jobs {

struct SingleRun {
  std::string line;                // the case, as it is written
  std::vector<std::string> after;  // cases that run before it on the same device, in their order
  RunChoice choice;      // device, second opinion, data and judge; what chooses among cases means nothing here
  std::string recorded;  // what its calls returned when they were traced (exec/recorded_return.h), JSON; "" not known
  std::optional<PccVariant> metric;  // also say what this variant of PCC would have said
};

struct SingleReport {
  std::string line;     // the case again, in its usual spelling
  Capabilities device;  // on which it ran
  CaseResult result;
  CaseRecord record;   // its notes, and the second opinion
  std::string repeat;  // the command that runs it again
};

Result<SingleReport> run_single(const SingleRun& asked);

}  // namespace opwright::jobs
