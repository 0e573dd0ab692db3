// `run` without --case: a suite in isolated workers.
#pragma once

#include "cli/command.h"
#include "exec/run_case.h"

namespace opwright::cli {

Result<int> run_many(const ParsedArgs& args, CommandEnv& env, const RunOptions& options);

}  // namespace opwright::cli
