// When the softmax family is refused, what it returns, and its exact results.
#pragma once

#include <vector>

#include "dialect/ttnn/board.h"
#include "dialect/ttnn/tensor_layout.h"
#include "model/bound_call.h"
#include "model/error_budget.h"
#include "model/refusal.h"
#include "ops/op.h"

namespace opwright {

// Layout and dtype of the input, for all of them.
Checked<void> check_softmax_input(const TensorSpec& input);
// A dimension of the tensor, counted from the front.
Checked<std::size_t> softmax_dim(const BoundCall& call, const TensorSpec& input);
// Rules of softmax in place that come from the program configuration.
Checked<void> check_softmax_program(const BoundCall& call, const TensorSpec& input, const Board& board);

// Softmax of scale x + mask along `dim`, for the rows that are asked for.
Checked<Exact> softmax_reference(const ReferenceJob& job, std::size_t dim);
ErrorBudget softmax_budget(const BoundCall& call, const TensorSpec& input);

}  // namespace opwright
