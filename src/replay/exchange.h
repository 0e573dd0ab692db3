// Exchanges between chips on a device that has one: the parts of the other chips, which the trace does not hold, stand
// in for one call, and are gone after it.
#pragma once

#include <string>

#include "exec/chip_parts.h"
#include "exec/plan_call.h"
#include "ops/collectives.h"

namespace opwright::replay {

struct PlannedExchange {
  PlannedCall plan;
  Exchange exchange;
};

// A recorded exchange made ready: it returns what was recorded. `results`: of sound shapes.
Checked<PlannedExchange> plan_exchange(const OpConfig& config, const std::vector<TensorSpec>& results);

using opwright::add_parts;

std::string said(const Exchange& exchange);  // what stands for what, for people

}  // namespace opwright::replay
