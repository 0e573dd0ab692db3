// Convolutions on the simulated device: products of patches of the image, made block by block, with the weights.
#pragma once

#include <vector>

#include "device/sim/kernel.h"

namespace opwright::sim {

Checked<void> admit_conv(const BoundCall& call, std::span<const OutputSpec> outputs, const Board& board);
Checked<std::vector<HostTensor>> run_conv(const KernelJob& job);

}  // namespace opwright::sim
