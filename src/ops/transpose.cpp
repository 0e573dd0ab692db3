#include <algorithm>
#include <numeric>

#include "ops/op.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"
#include "ops/shared/movement_turn.h"

namespace opwright {
namespace {

Checked<std::vector<std::size_t>> read_dims(const BoundCall& call, std::size_t rank) {
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t first, call.integer("dim1", 0));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t second, call.integer("dim2", 0));
  OPWRIGHT_CHECK_ASSIGN(const std::size_t a, dimension(first, rank));
  OPWRIGHT_CHECK_ASSIGN(const std::size_t b, dimension(second, rank));
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::swap(order[a], order[b]);
  return order;
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* memory, memory_argument(call, "memory_config"));
  // Older libraries took the input's own config for "as it comes out".
  if (call.convention == Convention::kCpp && memory != nullptr && same_memory(*memory, memory_of(*input)))
    memory = nullptr;
  OPWRIGHT_CHECK_ASSIGN([[maybe_unused]] const double pad, call.number("pad_value", 0));
  OPWRIGHT_CHECK_ASSIGN(const auto order, read_dims(call, input->shape.size()));
  // Dimensions that are not neighbours go the way of permute, which is built around the number of rows.
  std::size_t moved_dims = 0;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) moved_dims += order[i] == i + 1 || order[i] == i ? 0 : 1;
  if (moved_dims > 1) OPWRIGHT_CHECK(require_pages(*input));
  return turned(*input, order, memory, board);
}

Checked<Exact> reference(const ReferenceJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const auto order, read_dims(job.call, job.input("input_tensor")->spec.shape.size()));
  return turned_elements(job, order);
}

}  // namespace

const OpSpec& transpose_op() {
  static const OpSpec spec{.name = "ttnn.transpose",
                           .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "dim1", .era1 = 1, .required = true},
                                      {.name = "dim2", .era1 = 2, .required = true},
                                      {.name = "pad_value", .era1 = 4, .lost = Lost::kNoMatter},
                                      {.name = "memory_config", .era1 = 3}},
                           .infer = infer,
                           .reference = reference,
                           .budget = exact_budget};
  return spec;
}

}  // namespace opwright
