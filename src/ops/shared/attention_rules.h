// What attention, cache, rotary and head operators share when they read their arguments and make their outputs.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/ttnn/board.h"
#include "dialect/ttnn/compute_config.h"
#include "dialect/ttnn/tensor_layout.h"
#include "model/bound_call.h"
#include "model/refusal.h"

namespace opwright {

// The tensor given as `param`, on the device and allocated; the second also takes none at all (null).
Checked<const TensorSpec*> device_tensor(const BoundCall& call, std::string_view param);
Checked<const TensorSpec*> optional_device_tensor(const BoundCall& call, std::string_view param);

// Parameters with a default other than None: Python refuses a None there. Old C++ traces print it for "not passed".
Checked<void> refuse_none(const BoundCall& call, std::initializer_list<std::string_view> params);
// A parameter of an unsigned type.
Checked<std::int64_t> unsigned_argument(const BoundCall& call, std::string_view param, std::int64_t otherwise);
Checked<std::optional<std::int64_t>> unsigned_argument(const BoundCall& call, std::string_view param);
// Parameters that nobody here gives a meaning to: refused by name unless they are left at their default.
Checked<void> refuse_unknown(const BoundCall& call, std::initializer_list<std::string_view> params);

// The library indexes shapes of too small a rank in words of its own; `rank` dimensions must be there.
Checked<void> require_rank(const Shape& shape, std::int64_t rank);
// shape[-from_end], or 1 where the rank does not reach.
std::int64_t from_end(const Shape& shape, std::size_t position);

// "DataType::BFLOAT16", "Layout::TILE"
std::string dtype_text(const TensorSpec& spec);
std::string tensor_layout_text(const TensorSpec& spec);
MemoryLayout memory_layout(const TensorSpec& spec);
BufferType buffer_type(const TensorSpec& spec);
bool is_float16_or_block(const TensorSpec& spec);  // BFLOAT16, BFLOAT8_B, BFLOAT4_B
bool overlap(const std::vector<CoreRange>& a, const std::vector<CoreRange>& b);
// `count` cores of `ranges`, from `start` on, row by row inside each range; refused when there are fewer.
Checked<std::vector<CoreRange>> cores_from(CoreCoord start, std::int64_t count, const std::vector<CoreRange>& ranges);

// Appends the tensor once it can exist on the board.
Checked<void> add_output(std::vector<OutputSpec>& outputs, TensorSpec spec, const Board& board);

}  // namespace opwright
