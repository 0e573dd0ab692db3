#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"

namespace opwright {
namespace {

// Rows of a row-major shard lie in memory one after the other, each at an aligned address.
Checked<void> require_aligned(const MemoryConfig& memory, DType dtype, const Board& board, std::string_view which) {
  if (!memory.shard || memory.shard->shape.size() != 2) return {};
  const std::int64_t width = memory.shard->shape[1];
  const std::int64_t bytes = width * element_bytes(dtype);
  OPWRIGHT_REQUIRE(bytes % board.l1_alignment == 0,
                   "{} row-major shard width {} with data type DataType::{} gives page size {} bytes, which must be "
                   "aligned to {} bytes for reshard",
                   which, width, name_of(dtype), bytes, board.l1_alignment);
  return {};
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* memory, memory_argument(call, "output_memory_config"));
  OPWRIGHT_CHECK(require_on_device(*input));
  OPWRIGHT_REQUIRE(sharded(*input), "input must be sharded");
  OPWRIGHT_CHECK_ASSIGN(std::vector<OutputSpec> outputs, made(moved(*input, input->shape, *memory), board));
  OPWRIGHT_REQUIRE(memory->sharded(), "output must be sharded");
  if (!tiled(*input)) {
    OPWRIGHT_CHECK(require_aligned(memory_of(*input), input->dtype.value, board, "Input"));
    OPWRIGHT_CHECK(require_aligned(*memory, input->dtype.value, board, "Output"));
  }
  OPWRIGHT_CHECK(require_pages(*input));
  if (call.tensor("output_tensor") != nullptr) return given_back(*call.tensor("output_tensor"), "output_tensor");
  return outputs;
}

Checked<Exact> reference(const ReferenceJob& job) { return same_elements(job, *job.input("input_tensor")); }

}  // namespace

const OpSpec& reshard_op() {
  static const OpSpec spec{.name = "ttnn.reshard",
                           .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "output_memory_config", .era1 = 1, .required = true},
                                      {.name = "output_tensor", .era1 = 2, .role = Role::kBuffer}},
                           .infer = infer,
                           .reference = reference,
                           .budget = exact_budget};
  return spec;
}

}  // namespace opwright
