#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"

namespace opwright {
namespace {

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN(const DType dtype, dtype_argument(call, "output_dtype", input->dtype.value));
  if (!sharded(*input) || on_host(*input)) return given_back(*input, "input_tensor");
  OPWRIGHT_CHECK(require_on_device(*input));
  OPWRIGHT_REQUIRE(in_l1(memory_of(*input)), "Input tensor must be in L1");
  TensorSpec out = moved(*input, input->shape, asked == nullptr ? interleaved(BufferType::kDram) : *asked);
  out.dtype.value = dtype;
  OPWRIGHT_CHECK_ASSIGN(std::vector<OutputSpec> outputs, made(std::move(out), board));
  OPWRIGHT_REQUIRE(asked == nullptr || !asked->sharded(), "Output memory config must be Interleaved");
  if (!tiled(*input)) {
    OPWRIGHT_REQUIRE(page_bytes(*input) % board.l1_alignment == 0,
                     "Shard page size must be aligned to {}B for L1 Tensor", board.l1_alignment);
    OPWRIGHT_REQUIRE(dtype == input->dtype.value, "If diff output type, tensor must be TILED");
  }
  OPWRIGHT_CHECK(require_pages(*input));
  return outputs;
}

Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  return converted(same_elements(job, input), input.spec.dtype.value, job.outputs[job.output].spec.dtype.value);
}

}  // namespace

const OpSpec& sharded_to_interleaved_op() {
  static const OpSpec spec{.name = "ttnn.sharded_to_interleaved",
                           .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "memory_config", .era1 = 1},
                                      {.name = "output_dtype", .era1 = 2},
                                      {.name = "is_l1_aligned", .era1 = 3, .lost = Lost::kNoMatter}},
                           .infer = infer,
                           .reference = reference,
                           .budget = exact_budget};
  return spec;
}

}  // namespace opwright
