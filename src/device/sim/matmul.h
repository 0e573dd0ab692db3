// ttnn.matmul and ttnn.linear on the simulated device: the product, the bias and the fused function, each with the
// roundings of the place where the hardware does it.
#pragma once

#include <vector>

#include "device/sim/activation.h"
#include "device/sim/kernel.h"
#include "device/sim/pack.h"

namespace opwright::sim {

Checked<void> admit_matmul(const BoundCall& call, std::span<const OutputSpec> outputs, const Board& board);
Checked<std::vector<HostTensor>> run_matmul(const KernelJob& job);

// Functions on rows of `n` values in the destination register, then the pack to `out`.
void finish_rows(std::span<float> values, std::int64_t n, std::span<const FusedFunction> functions, Dst dst, DType out);

}  // namespace opwright::sim
