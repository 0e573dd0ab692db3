// What the flags of `run` ask for.
#pragma once

#include "cli/command.h"
#include "jobs/run_single.h"
#include "jobs/run_suite.h"

namespace opwright::cli {

// `run` without --case.
Result<jobs::RunRequest> run_request_of(const ParsedArgs& args, const CommandEnv& env);
// `run --case`.
Result<jobs::SingleRun> single_run_of(const ParsedArgs& args, const CommandEnv& env);

}  // namespace opwright::cli
