// What a call of ttnn.conv2d says about how it shall run: conv_config, dtype, compute_config.
#pragma once

#include <cstdint>
#include <optional>

#include "dialect/ttnn/compute_config.h"
#include "model/bound_call.h"
#include "model/refusal.h"

namespace opwright {

struct ConvConfig {
  std::optional<DType> weight_dtype;  // nothing: as the weights come
  std::optional<MemoryLayout> shard_layout;
  std::int64_t block_height = 0;  // act_block_h_override, in elements
  bool transpose_shards = false;
  bool reshard = false;  // reshard_if_not_optimal: an input that is sharded otherwise is taken as if it was not
  bool row_major_out = false;
  Value activation;
};

Checked<ConvConfig> conv_config(const BoundCall& call);
// Of the output.
Checked<DType> conv_dtype(const BoundCall& call);
ComputeConfig conv_compute(const BoundCall& call, DType weight_dtype);

}  // namespace opwright
