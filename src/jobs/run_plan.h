// The cases of a run: suite or vector files, shard, budget.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "exec/budget.h"
#include "exec/case_spool.h"
#include "exec/run_case.h"
#include "jobs/run_choice.h"

namespace opwright::jobs {

// What is told of a plan: what it has (with a budget what fits into it by estimate), an operation a row, and what it
// leaves out.
struct PlanSummary {
  struct Row {
    std::int64_t cases = 0, calls = 0;
    std::int64_t largest = 0;  // bytes that one case needs
    double seconds = 0;        // estimated, on one worker
  };
  std::map<std::string, Row> operations;
  Row all;
  std::map<std::string, std::int64_t> invalid;  // rule -> vectors that were not taken
  std::int64_t other_shards = 0;
  std::int64_t without_board = 0;  // cases of traces that name no known board
  std::string budget;              // what fits into the budget by estimate, for people; "" no budget
  std::int64_t timed_before = 0;   // cases whose estimate is what they took in an earlier run
};

struct RunPlan {
  CaseSpool spool;
  std::vector<std::uint32_t> chosen;  // of the spool: what shows most comes first
  std::size_t opening = 0;            // so many of them go before any long one
  bool in_plan_order = false;         // somebody asked for another order (--randomize, --plan-order)
  double budget_seconds = 0;          // 0: none
  std::string weight_unit = "call";   // what the weights of its cases count
  std::string digest;                 // of the ids of all chosen cases: a run that is continued compares it
  PlanSummary summary;
};

struct PlanOptions {
  RunChoice choice;
  VectorPlace place;
  int jobs = 1;
  RunOptions run;  // of `choice`

  std::string device() const { return choice.device.value_or("sim"); }  // "sim:n300", "null", "ttnn:mock:n150", …
  bool own_board() const { return device() == "sim"; }                  // each case on the board that it was traced on
};

Result<RunPlan> plan_run(const PlanOptions& options);

}  // namespace opwright::jobs
