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

// Sums of `terms` values on the matrix engine with a float32 destination.
ErrorBudget sum_budget(std::int64_t terms);
// How far a constant factor is off in the bfloat16 tile that holds it, as a part of it.
double rounding_of_factor(double factor);

// What a reduction is. As it stands here: a sum.
struct Reduction {
  std::string_view name = {};
  double start = 0;  // what there is before the first value
  double (*step)(double held, double value) = [](double held, double value) { return held + value; };
  bool selects = false;     // the result is one of the values: it needs one, and is exact
  bool multiplies = false;  // what rounding is proportional to is the result, not the sum of the values
  bool averages = false;    // divided by their number: integers are refused
  enum class Spread : std::uint8_t { kNone, kVariance, kDeviation };
  Spread spread = Spread::kNone;                           // of the values around their mean, in place of their sum
  ErrorBudget (*budget)(std::int64_t terms) = sum_budget;  // how far a device may be off, where it selects none
  OnWhole on_whole = OnWhole::kAsBudgeted;
};

// The dimensions that `dim` names, ascending and counted from the front; all of them when it names none.
Checked<std::vector<std::size_t>> reduce_dims(const BoundCall& call, std::size_t rank);
// The shape that is left: reduced dimensions are 1, or gone.
Shape reduced_shape(const Shape& shape, const std::vector<std::size_t>& dims, bool keepdim);

Checked<std::vector<OutputSpec>> infer_reduce(const BoundCall& call, const Board& board, const Reduction& how);
// `dims` of `input` reduced, for the rows of the output that are asked for.
// `correction`: by how many values a variance has fewer than it was made of.
Exact reduce_exact(const HostTensor& input, const std::vector<std::size_t>& dims, const Reduction& how, double factor,
                   const Rows& rows, double correction = 0);
Checked<Exact> reduce_reference(const ReferenceJob& job, const Reduction& how);
ErrorBudget reduce_budget(const BoundCall& call, const Reduction& how);
// Parameters that all of them share.
std::vector<Param> reduce_params(const Reduction& how);

}  // namespace opwright
