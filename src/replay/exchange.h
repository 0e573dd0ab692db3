// Exchanges between chips on a device that has one: the parts of the other chips, which the trace does not hold, stand
// in for one call, and are gone after it.
#pragma once

#include <string>

#include "exec/plan_call.h"
#include "ops/collectives.h"

namespace opwright::replay {

struct PlannedExchange {
  PlannedCall plan;
  Exchange exchange;
};

// A recorded exchange made ready: it returns what was recorded. `results`: of sound shapes.
Checked<PlannedExchange> plan_exchange(const OpConfig& config, const std::vector<TensorSpec>& results);

// Puts the parts of the other chips behind the one of this chip. Where every chip holds the same, they are copies; else
// those of chip k are this chip's rows, moved on by k: numbers of the same kind in other places, so that a part taken
// for another one, or left out, is seen.
void add_parts(const Exchange& exchange, HostTensor& part);

std::string said(const Exchange& exchange);  // what stands for what, for people

}  // namespace opwright::replay
