#include <fmt/format.h>

#include "dialect/ttnn/compute_config.h"
#include "model/host_tensor.h"
#include "model/tensor_facts.h"
#include "ops/shared/movement.h"
#include "ops/shared/norm_rules.h"
#include "ops/shared/softmax_rules.h"

namespace opwright {
namespace {

constexpr std::size_t kRank = 4;  // the kernels' view of every tensor
constexpr std::int64_t kTile = 32;
constexpr double kMasked = -10000;  // what models add where nothing shall be seen

Shape four_dims(Shape shape) {
  while (shape.size() < kRank) shape.insert(shape.begin(), 1);
  return shape;
}

Checked<void> check_mask(const BoundCall& call, const TensorSpec& input, const TensorSpec& mask) {
  const Shape padded = four_dims(padded_shape(input));
  const Shape other = padded_shape(mask);
  OPWRIGHT_CHECK_ASSIGN(const bool causal, call.flag("is_causal_mask", false));
  if (sharded(mask)) {
    OPWRIGHT_REQUIRE(other == padded, "Sharded mask shape must match input tensor shape");
  } else if (!tiled(mask)) {
    OPWRIGHT_REQUIRE(!other.empty() && other == (Shape{other[0], 1, padded.back() / kTile, kTile}) && !causal,
                     "Non-sharded mask shape must match expected shape");
  } else {
    for (std::size_t i = 1; i + 2 < kRank; ++i)
      OPWRIGHT_REQUIRE(i >= other.size() || other[i] == 1,
                       "Non-sharded mask intermediate dimensions must be 1, got {} at dimension {}. This path requires "
                       "head-uniform masks; apply a per-head bias with a separate ttnn::add before ttnn::softmax.",
                       other[i], i);
  }
  OPWRIGHT_CHECK_ASSIGN(const NormProgram program, norm_program(call));
  OPWRIGHT_REQUIRE(program.choice == ProgramChoice::kSharded || padded[0] == other[0],
                   "Input and mask batch sizes must match, got {} for input and {} for mask", shape_text(padded),
                   shape_text(other));
  return {};
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  if (call.passed("mask")) OPWRIGHT_CHECK(tensor_argument(call, "mask"));
  const TensorSpec* mask = call.tensor("mask");
  OPWRIGHT_CHECK(call.number("scale", 1.0));
  OPWRIGHT_CHECK(call.flag("numeric_stable", false));
  OPWRIGHT_CHECK(compute_argument(call, {}));
  OPWRIGHT_CHECK_ASSIGN(const bool causal, call.flag("is_causal_mask", false));
  for (const TensorSlot& slot : call.tensors) {
    OPWRIGHT_CHECK(require_on_device(slot.spec));
    OPWRIGHT_REQUIRE(slot.spec.shape.size() <= kRank, "Tensor rank is greater than 4");
  }
  OPWRIGHT_CHECK(check_softmax_input(*input));
  if (mask != nullptr) {
    OPWRIGHT_CHECK(check_mask(call, *input, *mask));
  } else {
    OPWRIGHT_REQUIRE(!call.passed("scale"), "Scale value must not be set when mask is not present");
    OPWRIGHT_REQUIRE(!causal,
                     "Causal-mask softmax requires an attention mask (is_causal_mask=true with no mask is "
                     "unsupported).");
  }
  OPWRIGHT_CHECK(check_softmax_program(call, *input, board));
  return given_back(*input, "input_tensor");
}

Checked<Exact> reference(const ReferenceJob& job) {
  const Shape& shape = job.input("input_tensor")->spec.shape;
  return softmax_reference(job, shape.empty() ? 0 : shape.size() - 1);
}

ErrorBudget budget(const BoundCall& call, std::span<const OutputSpec> outputs, std::size_t output) {
  return softmax_budget(call, outputs[output].spec);
}

// Masks say seen or not seen; the first column is always seen, so that no row is empty. Causal ones see nothing ahead.
bool fill(const BoundCall& call, std::size_t slot, Random& random, HostTensor& tensor) {
  if (call.tensors[slot].param != "mask" || tensor.integer()) return false;
  const std::int64_t count = tensor.size();
  const Shape& shape = tensor.spec.shape;
  const std::int64_t width = row_length(shape);
  const std::int64_t height = shape.size() > 1 ? shape[shape.size() - 2] : 1;
  const bool causal = call.flag("is_causal_mask", false).value_or(false);
  tensor.floats.resize(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const bool masked = i % width != 0 && (random.uniform() < 0.25 || (causal && i % width > i / width % height));
    tensor.floats[static_cast<std::size_t>(i)] = masked ? static_cast<float>(kMasked) : 0.0F;
  }
  return true;
}

}  // namespace

const OpSpec& scale_mask_softmax_in_place_op() {
  static const OpSpec spec{
      .name = "ttnn.scale_mask_softmax_in_place",
      .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kLogits},
                 {.name = "scale", .era1 = 1},
                 {.name = "mask", .era1 = 2, .role = Role::kMask},
                 {.name = "program_config", .era1 = 3, .lost = Lost::kAssumeNone},
                 {.name = "is_causal_mask", .era1 = 4},
                 {.name = "compute_kernel_config", .era1 = 5},
                 {.name = "numeric_stable", .era1 = 6}},
      .infer = infer,
      .reference = reference,
      .budget = budget,
      .fill = fill,
  };
  return spec;
}

}  // namespace opwright
