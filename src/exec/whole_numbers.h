// Data of whole numbers: how large they may be, and where results of them must be exact.
#pragma once

#include <cstdint>
#include <span>

#include "model/data_recipe.h"
#include "ops/op.h"

namespace opwright {

// Whole numbers (Distribution::kIntegers): how large they may be so that no sum of this call leaves what bfloat16 holds
// exactly, and of how many terms one counts (`every`) where there are too many of them. Products of such numbers and
// their sums are exact in every accumulator, at every fidelity, in any order.
struct Whole {
  std::int64_t reach = 8;  // -reach … reach
  std::int64_t every = 1;  // one number that is not 0 in so many neighbours of a row of the first tensor
};
Whole whole_numbers(const OpSpec& op, const BoundCall& call);

// Whether a function is applied to the results before they are written.
bool fuses_activation(const BoundCall& call);

// Whether this output must equal the reference on whole numbers.
bool exact_on_integers(const OpSpec& op, const BoundCall& call, std::span<const OutputSpec> outputs,
                       std::size_t output);

// What an output is judged by on this data: the operator's budget, or equality where the data makes it due.
ErrorBudget budget_for(const DataRecipe& recipe, const OpSpec& op, const BoundCall& call,
                       std::span<const OutputSpec> outputs, std::size_t output);

}  // namespace opwright
