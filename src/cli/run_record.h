// What a run writes down of itself: enough to know it again, and to go on with it.
#pragma once

#include "base/result.h"
#include "cli/command.h"
#include "cli/run_plan.h"
#include "model/case_record.h"

namespace opwright::cli {

// The record of a run that begins now. What the device says of itself is not in it yet.
RunRecord new_run_record(const ParsedArgs& given, const ParsedArgs& args, const RunPlan& plan);

// The command line of the run that is continued.
Result<ParsedArgs> resumed_args(const ParsedArgs& args, const RunRecord& run);
// Of the cases that the run had.
std::string digest_of(const RunRecord& run);

}  // namespace opwright::cli
