#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"
#include "ops/shared/movement_shards.h"
#include "ops/shared/movement_tiles.h"

namespace opwright {
namespace {

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN([[maybe_unused]] const bool multicore, call.flag("use_multicore", true));
  OPWRIGHT_CHECK(require_on_device(*input));
  OPWRIGHT_REQUIRE(tiled(*input), "Can only untilize tile major data");
  const MemoryConfig own = memory_of(*input);
  MemoryConfig memory = asked == nullptr ? own : *asked;
  // Rows have no padding: a shard as tall as the tensor shrinks with it.
  const bool narrow = memory.layout.value == MemoryLayout::kWidthSharded && memory.shard;
  if (narrow && !own.sharded()) {
    ShardSpec shard = *memory.shard;
    shard.shape[0] = flat_height(input->shape);
    memory = with_shard(memory, std::move(shard));
  }
  OutputSpec out;
  out.spec = moved(*input, input->shape, memory);
  out.spec.layout.value = Layout::kRowMajor;
  out.spec.dtype.value = row_dtype(input->dtype.value);
  const bool keeps_padding = own.sharded() && !memory.sharded();
  out.padded = keeps_padding ? padded_shape(*input) : padded_shape(out.spec);
  return made(std::move(out), board);
}

Checked<Exact> reference(const ReferenceJob& job) { return same_elements(job, *job.input("input_tensor")); }

}  // namespace

const OpSpec& untilize_op() {
  static const OpSpec spec{.name = "ttnn.untilize",
                           .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "memory_config", .era1 = 1},
                                      {.name = "use_multicore", .era1 = 2},
                                      {.name = "use_pack_untilize", .era1 = 3, .lost = Lost::kNoMatter},
                                      {.name = "sub_core_grids", .era1 = 4, .lost = Lost::kNoMatter}},
                           .infer = infer,
                           .reference = reference,
                           .budget = exact_budget};
  return spec;
}

}  // namespace opwright
