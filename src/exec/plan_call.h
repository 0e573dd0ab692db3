// A recorded call made ready for a device: operator found, arguments bound, inputs and rules checked, outputs inferred.
#pragma once

#include <vector>

#include "dialect/ttnn/board.h"
#include "model/op_config.h"
#include "model/outcome.h"
#include "model/refusal.h"
#include "ops/op.h"

namespace opwright {

struct PlannedCall {
  const OpSpec* op = nullptr;
  BoundCall call;
  std::vector<OutputSpec> outputs;
};

Checked<PlannedCall> plan_call(const OpConfig& config, const Board& board);

// The outcome that a refusal stands for.
Outcome outcome_of(const Refusal& refusal);

}  // namespace opwright
