#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"

namespace opwright {
namespace {

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "tensor"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* memory, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN(const DType dtype, dtype_argument(call, "dtype", input->dtype.value));
  OPWRIGHT_CHECK(require_on_device(*input));
  // A tensor that is there already is given back, whatever dtype was asked for.
  if (same_memory(*memory, memory_of(*input))) return given_back(*input, "tensor");
  TensorSpec out = moved(*input, input->shape, *memory);
  out.dtype.value = dtype;
  OPWRIGHT_CHECK_ASSIGN(std::vector<OutputSpec> outputs, made(std::move(out), board));
  OPWRIGHT_REQUIRE(tiled(*input) || dtype == input->dtype.value, "Only tile layout supports dtype conversion");
  if (memory->sharded() || sharded(*input)) OPWRIGHT_CHECK(require_pages(*input));
  if (call.tensor("output_tensor") != nullptr) return given_back(*call.tensor("output_tensor"), "output_tensor");
  return outputs;
}

Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& input = *job.input("tensor");
  return converted(same_elements(job, input), input.spec.dtype.value, job.outputs[job.output].spec.dtype.value);
}

}  // namespace

const OpSpec& to_memory_config_op() {
  static const OpSpec spec{.name = "ttnn.to_memory_config",
                           .params = {{.name = "tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "memory_config", .era1 = 1, .required = true},
                                      {.name = "dtype", .era1 = 2},
                                      {.name = "output_tensor", .era1 = 3, .role = Role::kBuffer}},
                           .infer = infer,
                           .reference = reference,
                           .budget = exact_budget};
  return spec;
}

}  // namespace opwright
