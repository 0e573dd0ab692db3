// What a run writes down of itself: enough to know it again, and to go on with it.
#pragma once

#include <string>

#include "base/result.h"
#include "jobs/run_plan.h"
#include "model/case_record.h"

namespace opwright::jobs {

// The record of a run that begins now; `command` is how it was asked for. What the device says of itself is not in it
// yet.
RunRecord new_run_record(const RunChoice& choice, const std::string& command, const RunPlan& plan);

// What the run that is continued had chosen. `given` may choose nothing but switches, and again what is not stored
// because there was a secret in it.
Result<RunChoice> resumed_choice(const RunChoice& given, const RunRecord& run);
// Of the cases that the run had.
std::string digest_of(const RunRecord& run);

}  // namespace opwright::jobs
