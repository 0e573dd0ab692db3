// `run --case`: one case in this process.
#pragma once

#include "cli/command.h"
#include "jobs/run_single.h"

namespace opwright::cli {

Result<int> run_one(const jobs::SingleRun& asked, CommandEnv& env);

}  // namespace opwright::cli
