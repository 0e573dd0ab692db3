// `run` without --case: a suite in isolated workers.
#pragma once

#include "app/run_suite.h"
#include "cli/command.h"

namespace opwright::cli {

Result<int> run_many(const app::RunRequest& request, bool quiet, CommandEnv& env);

}  // namespace opwright::cli
