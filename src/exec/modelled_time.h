// How long the chip would be busy with a call at least: a roofline, for devices that have no clock of their own.
//
// What it is: the larger of multiply-adds over the matrix engine's rate at the call's fidelity, element-wise work over
// the vector rate, DRAM bytes over DRAM bandwidth and L1 bytes over the cores' own, plus the launch of a kernel; on the
// cores that the shards name or the tiles can fill. Rates are the published ones of the chips.
// What it is not: a measurement, a simulation of kernels, or a promise. No stalls, no NoC congestion, no circular
// buffers, no program configuration, no dispatch, no second chip. Good kernels come near to it, small and
// data-moving ones are several times slower: docs/formats/data-recipes.md has the ratios to measured times. Use it to
// compare configurations of one operator with each other, never to say that something got slower.
#pragma once

#include <optional>

#include "exec/plan_call.h"

namespace opwright {

// Nothing where the time depends on data that a configuration does not have (positions of a decode), and for calls over
// several chips.
std::optional<double> modelled_kernel_seconds(const PlannedCall& plan, const Board& board);

}  // namespace opwright
