// What the flags of `run` ask for.
#pragma once

#include "app/run_single.h"
#include "app/run_suite.h"
#include "cli/command.h"

namespace opwright::cli {

// `run` without --case.
Result<app::RunRequest> run_request_of(const ParsedArgs& args, const CommandEnv& env);
// `run --case`.
Result<app::SingleRun> single_run_of(const ParsedArgs& args);

}  // namespace opwright::cli
