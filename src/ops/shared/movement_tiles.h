// The rules of going from rows to tiles and back.
#pragma once

#include "dialect/ttnn/board.h"
#include "dialect/ttnn/tensor_layout.h"
#include "model/refusal.h"

namespace opwright {

// Rows of a row-major shard are pages of their own, at aligned addresses.
Checked<void> require_aligned_rows(const TensorSpec& input, const Board& board);

// Where a tensor goes that was rows and becomes tiles: beside its input when both are sharded in the same way.
MemoryConfig tiles_memory(const TensorSpec& input, const MemoryConfig& asked, const Shape& padded);

// The output of tilize_with_val_padding, also of to_layout where padding is needed.
Checked<OutputSpec> padded_tiles(const TensorSpec& input, const Shape& padded, const MemoryConfig& memory, DType dtype,
                                 const Board& board);

// The dtype in rows: BFLOAT8_B has none there.
DType row_dtype(DType dtype);

// Where a tensor of `shape` goes that was tiles and becomes rows without padding.
Checked<MemoryConfig> rows_memory(const TensorSpec& input, const MemoryConfig* asked, const Shape& shape);

}  // namespace opwright
