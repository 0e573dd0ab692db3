// When the norms over the last dimension are refused, what they return, and their exact results.
#pragma once

#include <string_view>
#include <vector>

#include "dialect/ttnn/board.h"
#include "dialect/ttnn/compute_config.h"
#include "dialect/ttnn/tensor_layout.h"
#include "model/bound_call.h"
#include "model/error_budget.h"
#include "model/refusal.h"
#include "ops/op.h"

namespace opwright {

enum class NormKind : std::uint8_t { kLayer, kRms };

// How a sharded norm or softmax is cut over the cores: the fields that rules look at.
struct ShardedProgram {
  CoreCoord grid;
  std::int64_t subblock_w = 1;
  std::int64_t block_h = 0;
  std::int64_t block_w = 0;
  bool inplace = false;
  bool welford = false;
};
enum class ProgramChoice : std::uint8_t { kNone, kDefault, kSharded };
struct NormProgram {
  ProgramChoice choice = ProgramChoice::kNone;
  ShardedProgram sharded;
  bool welford = false;
};
// Reads `program_config`: nothing, a …DefaultProgramConfig or a …ShardedMultiCoreProgramConfig.
Checked<NormProgram> norm_program(const BoundCall& call);

// Rules of a sharded input against the grid of its program configuration.
Checked<void> check_sharded_input(const TensorSpec& input, CoreCoord program_grid, const Board& board);

Checked<std::vector<OutputSpec>> infer_row_norm(const BoundCall& call, const Board& board, NormKind kind);
// Weight (`Gamma`) and bias (`Beta`) against the input.
Checked<void> check_norm_weights(const BoundCall& call, const TensorSpec& input);

// The sharded stages of a norm over several devices: one row of tiles, cut as the program configuration says.
Checked<void> check_distributed_shards(const BoundCall& call, const TensorSpec& input, const Board& board);

Checked<Exact> row_norm_reference(const ReferenceJob& job, NormKind kind);
// `legacy`: the old reciprocal square root, which is up to 4 % short.
ErrorBudget norm_budget(const ComputeConfig& config, std::int64_t width, bool legacy = false);
// Whether the program configuration asks for it.
bool legacy_rsqrt(const BoundCall& call);

}  // namespace opwright
