#include <fmt/format.h>

#include <algorithm>

#include "ops/op.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"
#include "ops/shared/movement_reshape.h"

namespace opwright {
namespace {

Checked<Shape> squeezed(const BoundCall& call, const TensorSpec& input) {
  const auto rank = static_cast<std::int64_t>(input.shape.size());
  Shape dims;
  if (call.passed("dim")) {
    OPWRIGHT_CHECK_ASSIGN(const auto read, call.ints("dim"));
    dims = read.value_or(Shape{});
  } else {
    for (std::int64_t i = 0; i < rank; ++i) dims.push_back(i);
  }
  for (std::int64_t& dim : dims) {
    const std::int64_t index = dim < 0 ? dim + rank : dim;
    OPWRIGHT_REQUIRE(index >= 0 && index < rank,
                     "Dimension out of range (expected to be in range of [{},{}], but got {})", -rank, rank - 1, dim);
    dim = index;
  }
  std::ranges::sort(dims);
  if (const auto twice = std::ranges::adjacent_find(dims); twice != dims.end())
    return refuse(fmt::format("dim {} appears multiple times in the list of dims", *twice));
  Shape shape;
  for (std::int64_t i = 0; i < rank; ++i) {
    const std::int64_t n = input.shape[static_cast<std::size_t>(i)];
    if (n != 1 || !std::ranges::binary_search(dims, i)) shape.push_back(n);
  }
  return shape;
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(Shape shape, squeezed(call, *input));
  OPWRIGHT_CHECK_ASSIGN(OutputSpec out, reshape_output(*input, {.shape = std::move(shape)}, board));
  return std::vector{std::move(out)};
}

Checked<Exact> reference(const ReferenceJob& job) { return same_elements(job, *job.input("input_tensor")); }

}  // namespace

const OpSpec& squeeze_op() {
  static const OpSpec spec{.name = "ttnn.squeeze",
                           .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "dim", .era1 = 1}},
                           .infer = infer,
                           .reference = reference,
                           .budget = exact_budget};
  return spec;
}

}  // namespace opwright
