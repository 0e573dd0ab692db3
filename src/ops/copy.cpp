#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"

namespace opwright {
namespace {

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board&) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* from, tensor_argument(call, "input_a"));
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* to, tensor_argument(call, "input_b"));
  OPWRIGHT_CHECK(require_on_device(*from));
  OPWRIGHT_CHECK(require_on_device(*to));
  OPWRIGHT_REQUIRE(from->shape == to->shape, "Input tensor shape {} does not match output tensor shape {}",
                   shape_text(from->shape), shape_text(to->shape));
  OPWRIGHT_REQUIRE(from->layout == to->layout,
                   "Input tensor layout (Layout::{}) must equal output tensor layout (Layout::{})", from->layout.name(),
                   to->layout.name());
  OPWRIGHT_REQUIRE(tiled(*from) || from->dtype == to->dtype, "Only tile layout supports dtype conversion");
  return given_back(*to, "input_b");
}

Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& input = *job.input("input_a");
  return converted(same_elements(job, input), input.spec.dtype.value, job.outputs[job.output].spec.dtype.value);
}

}  // namespace

const OpSpec& copy_op() {
  static const OpSpec spec{.name = "ttnn.copy",
                           .params = {{.name = "input_a", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "input_b", .era1 = 1, .required = true, .role = Role::kBuffer}},
                           .infer = infer,
                           .reference = reference,
                           .budget = exact_budget};
  return spec;
}

}  // namespace opwright
