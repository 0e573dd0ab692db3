#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"

namespace opwright {
namespace {

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board&) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN([[maybe_unused]] const bool skip, call.flag("skip_negative_entries", false));
  OPWRIGHT_CHECK(require_on_device(*input));
  OPWRIGHT_REQUIRE(input->dtype.value == DType::kInt32 || input->dtype.value == DType::kUint32,
                   "Only INT32 and UINT32 is supported for inputs!");
  OPWRIGHT_REQUIRE(!tiled(*input), "Only ROW_MAJOR layout is supported for inputs!");
  OPWRIGHT_REQUIRE(input->shape.size() <= 4, "must have 1 to 4 dimensions for input tensor");
  OPWRIGHT_REQUIRE(last(input->shape) > 0,
                   "DataflowBufferSpec 'in0' has entry_size = 0. entry_size must be set to a non-zero value.");
  const MemoryConfig memory = memory_of(*input);
  if (memory.sharded() && memory.shard) {
    OPWRIGHT_REQUIRE(in_l1(memory),
                     "DFB 'in0' borrows memory from TensorParameter 'input', but its TensorSpec is not "
                     "L1-resident (L1 is required).");
    const std::int64_t held = volume(memory.shard->shape) * element_bytes(input->dtype.value);
    const std::int64_t needed = volume(padded_shape(*input)) * element_bytes(input->dtype.value);
    OPWRIGHT_REQUIRE(needed <= held,
                     "DFB 'in0' ({} bytes) is larger than the per-bank allocation of its borrowed TensorParameter "
                     "'input' ({} bytes).",
                     needed, held);
  }
  return given_back(*input, "input_tensor");
}

// In place, modulo 2^32; entries below zero may stay as they are.
Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  OPWRIGHT_CHECK_ASSIGN(const bool skip, job.call.flag("skip_negative_entries", false));
  OPWRIGHT_CHECK_ASSIGN(Exact exact, same_elements(job, input));
  const double highest = input.spec.dtype.value == DType::kInt32 ? 2147483647.0 : 4294967295.0;
  for (double& value : exact.value) {
    if (skip && value < 0) continue;
    value = value == highest ? value + 1 - 4294967296.0 : value + 1;
  }
  return exact;
}

}  // namespace

const OpSpec& plus_one_op() {
  static const OpSpec spec{.name = "ttnn.plus_one",
                           .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "sub_core_grids", .era1 = 1, .lost = Lost::kNoMatter},
                                      {.name = "skip_negative_entries", .era1 = 2}},
                           .infer = infer,
                           .reference = reference,
                           .budget = exact_budget};
  return spec;
}

}  // namespace opwright
