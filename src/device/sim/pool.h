// Pooling on the simulated device.
#pragma once

#include <vector>

#include "device/sim/kernel.h"

namespace opwright::sim {

Checked<void> admit_pool(const BoundCall& call, std::span<const OutputSpec> outputs, const Board& board);
Checked<std::vector<HostTensor>> run_max_pool(const KernelJob& job);
Checked<std::vector<HostTensor>> run_avg_pool(const KernelJob& job);

}  // namespace opwright::sim
