// How a matmul is cut over the cores: the program configuration that a call names, or the one that the library chooses.
// Rules, output shards and the order in which partial sums are added depend on it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "dialect/ttnn/board.h"
#include "dialect/ttnn/compute_config.h"
#include "model/bound_call.h"
#include "model/refusal.h"

namespace opwright {

struct MatmulProgram {
  enum class Kind : std::uint8_t {
    kMultiCore,    // one output tile after the other; all of K stays in the destination register
    kReuse,        // one block of a batched product a core
    kMcast2D,      // rows and columns of cores share their operands
    kMcast1D,      // one operand goes to all cores
    kDramSharded,  // weights stream from the DRAM banks
    kBatchedDram,  // the same, whole matrices of a batch a bank
    kUnknown,      // the trace has lost the type
  };
  Kind kind = Kind::kMultiCore;
  bool named = false;  // by the call
  CoreCoord grid{0, 0};
  // All in tiles.
  std::int64_t in0_block_w = 0;
  std::int64_t out_subblock_h = 1;
  std::int64_t out_subblock_w = 1;
  std::int64_t out_block_h = 1;
  std::int64_t out_block_w = 1;
  std::int64_t per_core_m = 0;
  std::int64_t per_core_n = 0;
  bool fuse_batch = true;
  bool transpose_mcast = false;
  bool mcast_in0 = false;
  bool gather_in0 = false;
  bool untilize_out = false;
  Value fused_activation;
};
// "MatmulMultiCoreReuseMultiCastProgramConfig"
std::string_view name_of(MatmulProgram::Kind kind);

// What the output shall lie in: the preallocated tensor's, `memory_config`, or DRAM.
MemoryConfig matmul_memory(const BoundCall& call);
Checked<DType> matmul_dtype(const BoundCall& call);
// Whether a bias is added by an operation of its own, after the product.
bool bias_apart(const BoundCall& call);
ComputeConfig matmul_compute(const BoundCall& call, const Board& board);
Checked<MatmulProgram> matmul_program(const BoundCall& call, const Board& board);

// The first `count` cores of a grid, whole rows (or columns) first.
std::vector<CoreRange> first_cores(std::int64_t count, CoreCoord grid, bool by_rows);
// The smallest rectangle around ranges.
CoreRange bounding_box(const std::vector<CoreRange>& ranges);

}  // namespace opwright
