#include <fmt/format.h>

#include "dialect/ttnn/compute_config.h"
#include "model/tensor_facts.h"
#include "ops/shared/movement.h"
#include "ops/shared/softmax_rules.h"

namespace opwright {
namespace {

constexpr std::size_t kRank = 4;  // the kernels' view of every tensor

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK(call.flag("numeric_stable", true));
  OPWRIGHT_CHECK(compute_argument(call, {}));
  OPWRIGHT_CHECK_ASSIGN(const std::size_t dim, softmax_dim(call, *input));
  OPWRIGHT_CHECK(require_on_device(*input));
  if (input->shape.empty()) return given_back(*input, "input_tensor");
  OPWRIGHT_REQUIRE(input->shape.size() <= kRank, "Tensor rank is greater than 4");
  OPWRIGHT_REQUIRE(dim == kRank - 1, "Invalid dimension: {}. Currently softmax inplace supports dim -1.", dim);
  OPWRIGHT_CHECK(check_softmax_input(*input));
  OPWRIGHT_CHECK(check_softmax_program(call, *input, board));
  return given_back(*input, "input_tensor");
}

Checked<Exact> reference(const ReferenceJob& job) {
  const Shape& shape = job.input("input_tensor")->spec.shape;
  return softmax_reference(job, shape.empty() ? 0 : shape.size() - 1);
}

ErrorBudget budget(const BoundCall& call, std::span<const OutputSpec> outputs, std::size_t output) {
  return softmax_budget(call, outputs[output].spec);
}

}  // namespace

const OpSpec& softmax_in_place_op() {
  static const OpSpec spec{
      .name = "ttnn.softmax_in_place",
      .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kLogits},
                 {.name = "dim", .era1 = 1, .lost = Lost::kAssumeNone},
                 {.name = "program_config", .era1 = 2, .lost = Lost::kAssumeNone},
                 {.name = "compute_kernel_config", .era1 = 3},
                 {.name = "numeric_stable", .era1 = 4}},
      .infer = infer,
      .reference = reference,
      .budget = budget,
  };
  return spec;
}

}  // namespace opwright
