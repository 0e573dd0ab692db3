// `run` without --case: a suite in isolated workers.
#pragma once

#include "cli/command.h"
#include "jobs/run_suite.h"

namespace opwright::cli {

Result<int> run_many(const jobs::RunRequest& request, bool quiet, CommandEnv& env);

}  // namespace opwright::cli
