// `run --case`: one case in this process.
#pragma once

#include "app/run_single.h"
#include "cli/command.h"

namespace opwright::cli {

Result<int> run_one(const app::SingleRun& asked, CommandEnv& env);

}  // namespace opwright::cli
