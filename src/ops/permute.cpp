#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ops/op.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"
#include "ops/shared/movement_turn.h"

namespace opwright {
namespace {

Checked<std::vector<std::size_t>> read_dims(const BoundCall& call, std::size_t rank) {
  OPWRIGHT_CHECK_ASSIGN(const Shape dims, list_argument(call, "dims"));
  OPWRIGHT_REQUIRE(dims.size() == rank,
                   "The number of dimensions in the tensor input does not match the length of the desired ordering");
  std::vector<std::size_t> order;
  for (const std::int64_t dim : dims) {
    OPWRIGHT_CHECK_ASSIGN(const std::size_t index, dimension(dim, rank));
    order.push_back(index);
  }
  std::vector<std::size_t> sorted = order;
  std::ranges::sort(sorted);
  OPWRIGHT_REQUIRE(std::ranges::adjacent_find(sorted) == sorted.end(),
                   "Invalid permutation: duplicate or out of range value");
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
  OPWRIGHT_REQUIRE(!on_host(*input), "Tensor must already be on device");
  // The kernels that move whole rows are built around the number of rows; a turn of the last two dimensions is not.
  const bool rows_move =
      !std::ranges::is_sorted(order.begin(), order.end() - std::min<std::ptrdiff_t>(2, std::ssize(order)));
  const bool swaps_only = order.size() >= 2 && order[order.size() - 1] == order.size() - 2 && !rows_move;
  if (!swaps_only) OPWRIGHT_CHECK(require_pages(*input));
  return turned(*input, order, memory, board);
}

Checked<Exact> reference(const ReferenceJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const auto order, read_dims(job.call, job.input("input_tensor")->spec.shape.size()));
  return turned_elements(job, order);
}

}  // namespace

const OpSpec& permute_op() {
  static const OpSpec spec{.name = "ttnn.permute",
                           .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "dims", .era1 = 1, .required = true},
                                      {.name = "pad_value", .era1 = 3, .lost = Lost::kNoMatter},
                                      {.name = "memory_config", .era1 = 2}},
                           .infer = infer,
                           .reference = reference,
                           .budget = exact_budget};
  return spec;
}

}  // namespace opwright
