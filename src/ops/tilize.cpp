#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"
#include "ops/shared/movement_tiles.h"

namespace opwright {
namespace {

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN(const DType dtype, dtype_argument(call, "dtype", input->dtype.value));
  OPWRIGHT_CHECK_ASSIGN(const bool multicore, call.flag("use_multicore", true));
  OPWRIGHT_CHECK_ASSIGN([[maybe_unused]] const bool low_perf, call.flag("use_low_perf", false));
  if (call.passed("tile")) return unsupported("tile", "tilize to tiles of another size");
  OPWRIGHT_CHECK(require_on_device(*input));
  OPWRIGHT_REQUIRE(!tiled(*input), "Can only tilize row major data");
  const Shape padded = padded_shape(*input);
  OPWRIGHT_REQUIRE(last(padded) % 32 == 0, "Input tensor width ({}) must be divisible by tile width (32)",
                   last(padded));
  OPWRIGHT_REQUIRE(padded.size() >= 2 && last(padded, 2) % 32 == 0,
                   "Input tensor height ({}) must be divisible by tile height (32)", last(padded, 2));
  const MemoryConfig memory = asked == nullptr ? memory_of(*input) : *asked;
  TensorSpec out = moved(*input, input->shape, tiles_memory(*input, memory, padded));
  out.layout.value = Layout::kTile;
  out.dtype.value = dtype;
  OPWRIGHT_CHECK_ASSIGN(std::vector<OutputSpec> outputs, made(std::move(out), board));
  OPWRIGHT_REQUIRE(multicore || !sharded(*input), "Multicore must be enabled for sharded input");
  OPWRIGHT_CHECK(require_aligned_rows(*input, board));
  return outputs;
}

Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  return converted(same_elements(job, input), input.spec.dtype.value, job.outputs[job.output].spec.dtype.value);
}

}  // namespace

const OpSpec& tilize_op() {
  static const OpSpec spec{.name = "ttnn.tilize",
                           .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "memory_config", .era1 = 1},
                                      {.name = "dtype", .era1 = 2},
                                      {.name = "use_multicore", .era1 = 3},
                                      {.name = "use_low_perf", .era1 = 4},
                                      {.name = "tile"},
                                      {.name = "sub_core_grids", .era1 = 5, .lost = Lost::kNoMatter}},
                           .infer = infer,
                           .reference = reference,
                           .budget = exact_budget};
  return spec;
}

}  // namespace opwright
