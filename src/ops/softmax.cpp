#include <fmt/format.h>

#include "dialect/ttnn/compute_config.h"
#include "model/tensor_facts.h"
#include "ops/shared/movement.h"
#include "ops/shared/softmax_rules.h"

namespace opwright {
namespace {

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK(call.flag("numeric_stable", true));
  OPWRIGHT_CHECK(compute_argument(call, {}));
  OPWRIGHT_CHECK(softmax_dim(call, *input));
  OPWRIGHT_REQUIRE(!on_host(*input) && !deallocated(*input),
                   "input_tensor.device() == nullptr, No device found, move input_tensor to device");
  OPWRIGHT_CHECK(check_softmax_input(*input));
  MemoryConfig memory = asked == nullptr ? memory_of(*input) : *asked;
  OPWRIGHT_REQUIRE(!memory.sharded() || memory.shard || memory.nd_shard, "bad optional access");
  return made(moved(*input, input->shape, std::move(memory)), board);
}

Checked<Exact> reference(const ReferenceJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const std::size_t dim, softmax_dim(job.call, job.input("input_tensor")->spec));
  return softmax_reference(job, dim);
}

ErrorBudget budget(const BoundCall& call, std::span<const OutputSpec> outputs, std::size_t output) {
  return softmax_budget(call, outputs[output].spec);
}

}  // namespace

const OpSpec& softmax_op() {
  static const OpSpec spec{
      .name = "ttnn.softmax",
      .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kLogits},
                 {.name = "dim", .era1 = 1},
                 {.name = "memory_config", .era1 = 2},
                 {.name = "compute_kernel_config", .era1 = 3},
                 {.name = "numeric_stable", .era1 = 4}},
      .infer = infer,
      .reference = reference,
      .budget = budget,
  };
  return spec;
}

}  // namespace opwright
