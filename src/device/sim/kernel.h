// A kernel of the simulated device: what the hardware would compute, with its roundings. Kernels know nothing of the
// references: the judged and the judge share no code.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "dialect/ttnn/board.h"
#include "dialect/ttnn/compute_config.h"
#include "dialect/ttnn/tensor_layout.h"
#include "model/bound_call.h"
#include "model/host_tensor.h"
#include "model/refusal.h"

namespace opwright::sim {

struct KernelJob {
  const BoundCall& call;
  std::span<const HostTensor> inputs;  // one for each of call.tensors
  std::span<const OutputSpec> outputs;
  const Board& board;
  std::span<const std::vector<std::int64_t>> rows = {};  // of each output, as in DeviceCall

  // Whether anybody looks at rows first to first + count - 1 of that output.
  bool wanted(std::size_t output, std::int64_t first, std::int64_t count) const;
  const HostTensor* input(std::string_view param, std::size_t item = 0) const;  // null when not passed
};

// An output before its kernel ran: NaN and large numbers in every place, so that a row that a kernel forgets is seen.
HostTensor unwritten(const OutputSpec& output);

struct Kernel {
  std::string_view op;  // "ttnn.pad"; "" where it serves many
  // Null, or refuses what this kernel cannot compute (a dtype without a path), before any data is made.
  Checked<void> (*admit)(const BoundCall& call, std::span<const OutputSpec> outputs, const Board& board) = nullptr;
  Checked<std::vector<HostTensor>> (*run)(const KernelJob& job) = nullptr;
};

std::span<const Kernel* const> all_kernels();    // those with a file of their own
const Kernel* find_kernel(std::string_view op);  // these, then those of families (kernels/families.h)

}  // namespace opwright::sim
