// One case from call to verdict, in this process: plan, make data, run, compute the reference, judge.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/judge.h"
#include "compare/pcc.h"
#include "device/device.h"
#include "exec/case_data.h"
#include "exec/plan_call.h"
#include "model/outcome.h"

namespace opwright {

struct RunOptions {
  DataRecipe recipe;
  std::int64_t most_elements = std::int64_t{1} << 22;  // outputs beyond are judged by a sample of rows
  double most_work = 4e9;                              // … and so are those whose rows take more multiply-adds in all
  bool compute = true;                                 // false: plan and admit only
  std::optional<double> pcc;                           // threshold instead of the operator's own
  std::optional<PccVariant> variant;                   // also say what this variant of PCC would have said
};

struct CaseResult {
  Outcome outcome = Outcome::kNotRun;
  std::string reason;                // why it is not passed; "" else
  std::string argument;              // the parameter at fault, where one is
  std::vector<std::string> assumed;  // parameters that the trace lost and that were taken as not passed
  std::vector<OutputSpec> outputs;
  std::vector<Verdict> verdicts;  // one an output
  MemoryReport memory;
  double seconds = 0;            // of the device
  double reference_seconds = 0;  // of the reference and the judge
};

CaseResult run_case(const OpConfig& config, Device& device, const RunOptions& options);

// All rows of an output, or a seeded sample when it is large; of a tensor that is changed in place, what was written
// and a sample of the rest.
Rows pick_rows(const PlannedCall& plan, std::span<const HostTensor> inputs, std::size_t output,
               const RunOptions& options);

}  // namespace opwright
