// From a command line to the cases of a run: suite or vector files, shard, budget, what an interrupted run has already.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/command.h"
#include "exec/budget.h"
#include "exec/case_spool.h"
#include "exec/run_case.h"
#include "model/case_record.h"

namespace opwright::cli {

struct RunPlan {
  CaseSpool spool;
  std::vector<std::uint32_t> chosen;            // of the spool, in the order of the plan
  std::string digest;                           // of the ids of all chosen cases: --resume compares it
  std::map<std::string, std::int64_t> invalid;  // rule -> vectors that were not taken
  std::int64_t other_shards = 0;
  std::int64_t without_board = 0;  // traces that name no known board
  std::string budget;              // what the budget left out; "" no budget
  double seconds = 0;              // estimate of all chosen cases on one worker
};

struct PlanOptions {
  std::string device;       // "sim", "sim:n300", "null", "ttnn:mock:n150", …
  bool own_board = false;   // each case on the board that it was traced on
  std::string usual_board;  // for inference and estimates
  int jobs = 1;
  RunOptions run;
};

Result<RunPlan> plan_run(const ParsedArgs& args, CommandEnv& env, const PlanOptions& options);
// What would be run, an operation a row.
void print_plan(const RunPlan& plan, CommandEnv& env);

}  // namespace opwright::cli
