#include "ops/op.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"
#include "ops/shared/movement_reshape.h"

namespace opwright {
namespace {

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "tensor"));
  if (input->shape.size() > 4) return refuse("Tensor rank is greater than 4");
  OPWRIGHT_CHECK(require_allocated(*input));
  Shape shape = input->shape;
  shape.insert(shape.begin(), 4 - shape.size(), 1);
  OPWRIGHT_CHECK_ASSIGN(OutputSpec out, reshape_output(*input, {.shape = std::move(shape), .alias = "tensor"}, board));
  return std::vector{std::move(out)};
}

Checked<Exact> reference(const ReferenceJob& job) { return same_elements(job, *job.input("tensor")); }

}  // namespace

const OpSpec& unsqueeze_to_4D_op() {
  static const OpSpec spec{.name = "ttnn.unsqueeze_to_4D",
                           .params = {{.name = "tensor", .era1 = 0, .required = true, .role = Role::kPlain}},
                           .infer = infer,
                           .reference = reference,
                           .budget = exact_budget};
  return spec;
}

}  // namespace opwright
