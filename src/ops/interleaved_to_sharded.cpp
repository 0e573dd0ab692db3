#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"

namespace opwright {
namespace {

// (x, grid, shard shape, scheme, orientation, …) is an overload of its own: the library chooses the cores.
Checked<void> rebind(BoundCall& call) {
  const Value* place = call.find("sharded_memory_config");
  const bool by_grid =
      call.passed("grid") || (place != nullptr && (place->as_list() != nullptr || place->as_struct() != nullptr));
  if (by_grid) return unsupported("grid", "shards by a grid instead of a memory config");
  return {};
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* memory, memory_argument(call, "sharded_memory_config"));
  OPWRIGHT_CHECK_ASSIGN(const DType dtype, dtype_argument(call, "output_dtype", input->dtype.value));
  OPWRIGHT_CHECK_ASSIGN([[maybe_unused]] const bool aligned, call.flag("keep_l1_aligned", false));
  OPWRIGHT_CHECK(require_on_device(*input));
  OPWRIGHT_REQUIRE(!sharded(*input), "Input tensor memory layout must be INTERLEAVED, but got TensorMemoryLayout::{}",
                   memory_of(*input).layout.name());
  OPWRIGHT_REQUIRE(memory->sharded(), "Output memory config must be sharded");
  OPWRIGHT_REQUIRE(memory->layout.value != MemoryLayout::kBlockSharded || memory->buffer.value != BufferType::kDram,
                   "We don't support DRAM block sharding");
  OPWRIGHT_REQUIRE(tiled(*input) || dtype == input->dtype.value,
                   "Input tensor layout must be TILE when dtype conversion is needed");
  OPWRIGHT_CHECK(require_pages(*input));
  TensorSpec out = moved(*input, input->shape, *memory);
  out.dtype.value = dtype;
  OPWRIGHT_CHECK_ASSIGN(std::vector<OutputSpec> outputs, made(std::move(out), board));
  OPWRIGHT_REQUIRE(
      tiled(*input) || !memory->shard || memory->shard->shape[1] * element_bytes(dtype) % board.l1_alignment == 0,
      "Shard page size must currently have L1 aligned page size");
  if (call.tensor("preallocated_output") != nullptr)
    return given_back(*call.tensor("preallocated_output"), "preallocated_output");
  return outputs;
}

Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  return converted(same_elements(job, input), input.spec.dtype.value, job.outputs[job.output].spec.dtype.value);
}

}  // namespace

const OpSpec& interleaved_to_sharded_op() {
  static const OpSpec spec{.name = "ttnn.interleaved_to_sharded",
                           .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "sharded_memory_config", .era1 = 1, .required = true, .place = 1},
                                      {.name = "output_dtype", .era1 = 2, .place = 2},
                                      {.name = "keep_l1_aligned", .era1 = 3},
                                      {.name = "preallocated_output", .era1 = 4, .role = Role::kBuffer},
                                      {.name = "grid"},
                                      {.name = "shard_shape"},
                                      {.name = "shard_scheme"},
                                      {.name = "shard_orientation"}},
                           .rebind = rebind,
                           .infer = infer,
                           .reference = reference,
                           .budget = exact_budget};
  return spec;
}

}  // namespace opwright
