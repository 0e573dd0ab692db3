// How long a fused operator takes as separate kernels, by the clock of the simulated device, and how long it would have
// to take at best.
#pragma once

#include "fuse/function.h"

namespace opwright::fuse {

// Of one chip. At best: what crosses the boundary is moved once at the DRAM's rate, products run at the matrix
// engine's.
Targets modelled_targets(const Function& function, const ParameterSet& set, const Board& board);

}  // namespace opwright::fuse
