#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"

namespace opwright {
namespace {

Checked<void> require_same_place(const MemoryConfig& own, const MemoryConfig& memory) {
  if (own.sharded() && memory.sharded()) {
    OPWRIGHT_REQUIRE(own.layout == memory.layout,
                     "Clone: input and output must have the same memory layout when both are sharded");
    OPWRIGHT_REQUIRE(own.shard && memory.shard && own.shard->grid == memory.shard->grid &&
                         own.shard->shape == memory.shard->shape && own.shard->orientation == memory.shard->orientation,
                     "Clone: input and output shard specs must be identical (same grid, shape, and orientation)");
  }
  OPWRIGHT_REQUIRE(own.sharded() == memory.sharded(),
                   "Clone: mixed sharded/interleaved layout not currently supported. Both input and output must have "
                   "the same layout.");
  return {};
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input"));
  OPWRIGHT_CHECK_ASSIGN(const DType dtype, dtype_argument(call, "dtype", input->dtype.value));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK(require_on_device(*input));
  OPWRIGHT_REQUIRE(tiled(*input) || dtype == input->dtype.value,
                   "Clone: data type conversion is only supported with tile layout");
  const MemoryConfig own = memory_of(*input);
  TensorSpec out = moved(*input, input->shape, asked == nullptr ? own : *asked);
  out.dtype.value = dtype;
  OPWRIGHT_CHECK_ASSIGN(std::vector<OutputSpec> outputs, made(std::move(out), board));
  OPWRIGHT_CHECK(require_same_place(own, memory_of(outputs[0].spec)));
  if (dtype != input->dtype.value) OPWRIGHT_CHECK(require_pages(*input));
  return outputs;
}

Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& input = *job.input("input");
  return converted(same_elements(job, input), input.spec.dtype.value, job.outputs[job.output].spec.dtype.value);
}

}  // namespace

const OpSpec& clone_op() {
  static const OpSpec spec{.name = "ttnn.clone",
                           .params = {{.name = "input", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "dtype", .era1 = 1},
                                      {.name = "memory_config", .era1 = 2},
                                      {.name = "compute_kernel_config", .era1 = 3, .lost = Lost::kNoMatter}},
                           .infer = infer,
                           .reference = reference,
                           .budget = exact_budget};
  return spec;
}

}  // namespace opwright
