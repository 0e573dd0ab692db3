// The rules of operators that change the order of dimensions: permute and transpose.
#pragma once

#include <vector>

#include "dialect/ttnn/board.h"
#include "dialect/ttnn/tensor_layout.h"
#include "model/refusal.h"
#include "ops/op.h"

namespace opwright {

// The input with dimension order[i] as its i-th; `asked` may be null.
Checked<std::vector<OutputSpec>> turned(const TensorSpec& input, const std::vector<std::size_t>& order,
                                        const MemoryConfig* asked, const Board& board);
// The elements of `input_tensor` in that order.
Checked<Exact> turned_elements(const ReferenceJob& job, const std::vector<std::size_t>& order);

}  // namespace opwright
