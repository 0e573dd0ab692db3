// `run --case`: one case in this process.
#pragma once

#include "cli/command.h"
#include "exec/run_case.h"

namespace opwright::cli {

Result<int> run_one(const ParsedArgs& args, CommandEnv& env, const RunOptions& options);

}  // namespace opwright::cli
