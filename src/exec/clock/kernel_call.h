// A planned call as the clock sees it: which kernel the library would launch, on how many cores, over which tensors.
#pragma once

#include <optional>

#include "exec/clock/clock.h"
#include "exec/plan_call.h"

namespace opwright {

// Nothing where no kernel is launched: a name of a shape, tensors on the host. An exchange between chips has an empty
// class, which no kernel has: one chip alone does not tell how long it takes. So have operations that no table has.
std::optional<KernelCall> kernel_call(const PlannedCall& plan, const Board& board);

// Of the kernel; nothing where there is none.
std::optional<double> modelled_kernel_seconds(const PlannedCall& plan, const Board& board);

}  // namespace opwright
