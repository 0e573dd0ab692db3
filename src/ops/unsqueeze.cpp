#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"
#include "ops/shared/movement_reshape.h"

namespace opwright {
namespace {

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t dim, call.integer("dim", 0));
  const auto rank = static_cast<std::int64_t>(input->shape.size());
  OPWRIGHT_REQUIRE(dim >= -rank - 1 && dim <= rank,
                   "Dimension out of range (expected to be in range of [{},{}], but got {})", -rank - 1, rank, dim);
  Shape shape = input->shape;
  shape.insert(shape.begin() + (dim < 0 ? dim + rank + 1 : dim), 1);
  OPWRIGHT_CHECK_ASSIGN(OutputSpec out, reshape_output(*input, {.shape = std::move(shape)}, board));
  return std::vector{std::move(out)};
}

Checked<Exact> reference(const ReferenceJob& job) { return same_elements(job, *job.input("input_tensor")); }

}  // namespace

const OpSpec& unsqueeze_op() {
  static const OpSpec spec{.name = "ttnn.unsqueeze",
                           .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "dim", .era1 = 1, .required = true}},
                           .infer = infer,
                           .reference = reference,
                           .budget = exact_budget};
  return spec;
}

}  // namespace opwright
