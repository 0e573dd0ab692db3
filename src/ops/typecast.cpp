#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"

namespace opwright {
namespace {

// (x, input dtype, output dtype) is an overload of its own; by position the second is `dtype` and the third decides.
Checked<void> rebind(BoundCall& call) {
  if (call.passed("input_dtype") && call.passed("output_dtype") && !call.passed("dtype"))
    call.set("dtype", Value(*call.find("input_dtype")));
  return {};
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(DType dtype, dtype_argument(call, "dtype", input->dtype.value));
  OPWRIGHT_CHECK_ASSIGN(dtype, dtype_argument(call, "output_dtype", dtype));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  if (on_host(*input)) {
    TensorSpec out = *input;
    out.dtype.value = dtype;
    return made(std::move(out), board);
  }
  OPWRIGHT_CHECK(require_on_device(*input));
  const MemoryConfig own = memory_of(*input);
  const TensorSpec* given = call.tensor("output_tensor");
  const MemoryConfig memory = given != nullptr ? memory_of(*given) : asked != nullptr ? *asked : own;
  TensorSpec out = moved(*input, input->shape, memory);
  out.dtype.value = dtype;
  OPWRIGHT_CHECK_ASSIGN(std::vector<OutputSpec> outputs, made(std::move(out), board));
  OPWRIGHT_REQUIRE(memory.layout == own.layout,
                   "Typecast operation requires Input and Output memory layout to match. Input layout: "
                   "TensorMemoryLayout::{}, Output layout: TensorMemoryLayout::{}",
                   own.layout.name(), memory.layout.name());
  if (given != nullptr) outputs[0].alias = "output_tensor";
  return outputs;
}

Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  return converted(same_elements(job, input), input.spec.dtype.value, job.outputs[job.output].spec.dtype.value);
}

}  // namespace

const OpSpec& typecast_op() {
  static const OpSpec spec{.name = "ttnn.typecast",
                           .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "dtype", .era1 = 1, .required = true, .place = 1},
                                      {.name = "output_dtype", .place = 2},
                                      {.name = "memory_config", .era1 = 2},
                                      {.name = "output_tensor", .era1 = 3, .role = Role::kBuffer},
                                      {.name = "sub_core_grids", .era1 = 4, .lost = Lost::kNoMatter},
                                      {.name = "input_dtype"}},
                           .rebind = rebind,
                           .infer = infer,
                           .reference = reference,
                           .budget = exact_budget};
  return spec;
}

}  // namespace opwright
