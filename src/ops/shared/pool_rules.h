// Pooling: when it is refused, what it returns, and its exact result.
#pragma once

#include <vector>

#include "dialect/ttnn/board.h"
#include "model/bound_call.h"
#include "ops/op.h"

namespace opwright {

Checked<std::vector<OutputSpec>> infer_pool(const BoundCall& call, const Board& board);
// A mean over the whole image is none of a window, and stays where the image lies.
Checked<std::vector<OutputSpec>> infer_avg_pool(const BoundCall& call, const Board& board);
Checked<Exact> max_pool_reference(const ReferenceJob& job);
Checked<Exact> avg_pool_reference(const ReferenceJob& job);

}  // namespace opwright
