// The dialect of PyTorch's operators (ATen), as `torch.ops.aten` names them. Recorded, not run.
#pragma once

#include "dialect/dialect.h"

namespace opwright {

const Dialect& aten_dialect();

// A dtype in every spelling of PyTorch: `torch.float16`, `torch.half`, `ScalarType::Half`, `Half`.
Spelled<DType> parse_torch_dtype(std::string_view text);

// May a tensor of this shape with these strides be read row by row without a gap, as PyTorch says it? Strides of
// dimensions of one element say nothing, and a tensor without elements has no gaps.
bool is_contiguous(const Shape& shape, const Shape& strides);

}  // namespace opwright
