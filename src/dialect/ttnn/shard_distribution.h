// How the shards of a tensor go onto cores or DRAM banks.
#pragma once

#include <cstdint>
#include <vector>

#include "dialect/ttnn/tensor_layout.h"
#include "model/refusal.h"
#include "model/tensor_spec.h"

namespace opwright {

struct ShardDistribution {
  std::int64_t shards = 0;
  std::int64_t shards_per_core = 0;  // on the fullest core
  std::int64_t shard_pages = 0;      // of one shard, whole even where the tensor ends within it
  std::int64_t cores = 0;            // that hold at least one shard
  std::vector<CoreRange> grid;       // that banks are asked of: all of it, or the part that a 2-D distribution uses

  std::int64_t pages_per_core() const { return shards_per_core * shard_pages; }
};

// Refuses, in the library's words, shards that cannot be spread over their grid. The tensor is sharded and its shard
// spec, pages and grid are sound.
Checked<ShardDistribution> distribute(const TensorSpec& spec);

}  // namespace opwright
