// `run` without --case: a suite in isolated workers.
#pragma once

#include "cli/command.h"
#include "jobs/ending.h"
#include "jobs/run_suite.h"

namespace opwright::cli {

struct RunManyOptions {
  bool quiet = false;
  jobs::Tolerance tolerance;
  bool is_tolerance_told = false;  // somebody asked for one: what goes beyond it is said
  double shrink_seconds = 0;       // for failures to be made smaller; 0: they are not
};
Result<int> run_many(const jobs::RunRequest& request, const RunManyOptions& options, CommandEnv& env);

}  // namespace opwright::cli
