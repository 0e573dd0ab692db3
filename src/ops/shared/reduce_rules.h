// When sums, means and extremes over dimensions are refused, what they return, and their exact results.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "dialect/ttnn/board.h"
#include "dialect/ttnn/tensor_layout.h"
#include "model/bound_call.h"
#include "model/error_budget.h"
#include "model/refusal.h"
#include "ops/op.h"

namespace opwright {

enum class ReduceKind : std::uint8_t { kSum, kMean, kMax, kMin };

// The dimensions that `dim` names, ascending and counted from the front; all of them when it names none.
Checked<std::vector<std::size_t>> reduce_dims(const BoundCall& call, std::size_t rank);
// The shape that is left: reduced dimensions are 1, or gone.
Shape reduced_shape(const Shape& shape, const std::vector<std::size_t>& dims, bool keepdim);

Checked<std::vector<OutputSpec>> infer_reduce(const BoundCall& call, const Board& board, ReduceKind kind);
// `dims` of `input` reduced, for the rows of the output that are asked for.
Exact reduce_exact(const HostTensor& input, const std::vector<std::size_t>& dims, ReduceKind kind, double factor,
                   const Rows& rows);
Checked<Exact> reduce_reference(const ReferenceJob& job, ReduceKind kind);
ErrorBudget reduce_budget(const BoundCall& call, ReduceKind kind);
// Sums of `terms` values on the matrix engine with a float32 destination.
ErrorBudget sum_budget(std::int64_t terms);

// Parameters that sum, mean, max and min share.
std::vector<Param> reduce_params(ReduceKind kind);

}  // namespace opwright
