#include "ops/op.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"
#include "ops/shared/movement_tiles.h"

namespace opwright {
namespace {

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN(const DType dtype, dtype_argument(call, "output_dtype", input->dtype.value));
  OPWRIGHT_CHECK_ASSIGN([[maybe_unused]] const bool multicore, call.flag("use_multicore", true));
  OPWRIGHT_CHECK(require_on_device(*input));
  if (tiled(*input)) return given_back(*input, "input_tensor");
  OPWRIGHT_CHECK_ASSIGN(OutputSpec out, padded_tiles(*input, padded_shape(input->shape, Layout::kTile),
                                                     asked == nullptr ? memory_of(*input) : *asked, dtype, board));
  return std::vector{std::move(out)};
}

Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  return converted(same_elements(job, input), input.spec.dtype.value, job.outputs[job.output].spec.dtype.value);
}

}  // namespace

const OpSpec& tilize_with_zero_padding_op() {
  static const OpSpec spec{.name = "ttnn.tilize_with_zero_padding",
                           .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "memory_config", .era1 = 1},
                                      {.name = "output_dtype", .era1 = 2},
                                      {.name = "use_multicore", .era1 = 3},
                                      {.name = "sub_core_grids", .era1 = 4, .lost = Lost::kNoMatter}},
                           .infer = infer,
                           .reference = reference,
                           .budget = exact_budget};
  return spec;
}

}  // namespace opwright
