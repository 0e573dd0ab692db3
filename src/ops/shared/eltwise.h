// What element-wise operators have in common: operands on the device, outputs with their memory config.
#pragma once

#include <string_view>

#include "dialect/ttnn/board.h"
#include "dialect/ttnn/tensor_layout.h"
#include "model/bound_call.h"
#include "model/refusal.h"
#include "model/tensor_facts.h"

namespace opwright::eltwise {

bool has_elements(const TensorSpec& spec);

// The dtype as the library's messages have it: `DataType::BFLOAT16`.
std::string dtype_text(DType dtype);

TensorSpec device_tensor(Shape shape, DType dtype, Layout layout, MemoryConfig memory);

// The shard spec of a tensor padded to `from` for one padded to `to`: the shard grows with the tensor, never below a
// tile.
Checked<ShardSpec> scaled_shard(const ShardSpec& shard, const Shape& from, const Shape& to);
// A shard spec over as many cores as have something to hold, for a sharded memory config that came without one.
ShardSpec spread_shard(const TensorSpec& tensor, MemoryLayout layout, const Board& board);

// `spec` as an output, where it can exist on the board.
Checked<std::vector<OutputSpec>> one_output(TensorSpec spec, const Board& board);

}  // namespace opwright::eltwise
