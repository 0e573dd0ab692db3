#include "ops/op.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"
#include "ops/shared/movement_tiles.h"

namespace opwright {
namespace {

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const Shape padded, sizes_argument(call, "output_tensor_shape"));
  OPWRIGHT_CHECK_ASSIGN([[maybe_unused]] const double pad, call.number("pad_value", 0));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN(const DType dtype, dtype_argument(call, "dtype", input->dtype.value));
  OPWRIGHT_CHECK_ASSIGN([[maybe_unused]] const bool multicore, call.flag("use_multicore", true));
  OPWRIGHT_CHECK(require_on_device(*input));
  if (tiled(*input)) return given_back(*input, "input_tensor");
  OPWRIGHT_CHECK_ASSIGN(OutputSpec out,
                        padded_tiles(*input, padded, asked == nullptr ? memory_of(*input) : *asked, dtype, board));
  return std::vector{std::move(out)};
}

Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  const DType to = job.outputs[job.output].spec.dtype.value;
  if (input.size() > 0) return converted(same_elements(job, input), input.spec.dtype.value, to);
  OPWRIGHT_CHECK_ASSIGN(const double pad, job.call.number("pad_value", 0));
  Exact exact;
  exact.value.assign(static_cast<std::size_t>(job.rows.count() * job.rows.length), pad);
  return exact;
}

}  // namespace

const OpSpec& tilize_with_val_padding_op() {
  static const OpSpec spec{.name = "ttnn.tilize_with_val_padding",
                           .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "output_tensor_shape", .era1 = 1, .required = true},
                                      {.name = "pad_value", .era1 = 2, .required = true},
                                      {.name = "memory_config", .era1 = 3},
                                      {.name = "dtype", .era1 = 4},
                                      {.name = "use_multicore", .era1 = 5},
                                      {.name = "sub_core_grids", .era1 = 6, .lost = Lost::kNoMatter}},
                           .infer = infer,
                           .reference = reference,
                           .budget = exact_budget};
  return spec;
}

}  // namespace opwright
