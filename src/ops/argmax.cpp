#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/host_tensor.h"
#include "model/tensor_facts.h"
#include "ops/shared/movement.h"
#include "ops/shared/reduce_rules.h"

namespace opwright {
namespace {

Checked<std::vector<std::size_t>> dims_of(const BoundCall& call, const TensorSpec& input) {
  OPWRIGHT_CHECK_ASSIGN(const auto dim, call.integer("dim"));
  const auto rank = static_cast<std::int64_t>(input.shape.size());
  std::vector<std::size_t> out;
  if (!dim) {
    for (std::size_t i = 0; i < input.shape.size(); ++i) out.push_back(i);
    return out;
  }
  OPWRIGHT_REQUIRE((*dim >= -rank && *dim < rank) || rank == 0,
                   "argmax: Dimension out of range (expected to be in range of [{}, {}], but got {})", -rank, rank - 1,
                   *dim);
  if (rank > 0) out.push_back(static_cast<std::size_t>(*dim < 0 ? *dim + rank : *dim));
  return out;
}

Checked<void> check_input(const BoundCall& call, const TensorSpec& input) {
  const DType dtype = input.dtype.value;
  OPWRIGHT_REQUIRE(memory_of(input).layout.value == MemoryLayout::kInterleaved,
                   "Only INTERLEAVED memory layout is supported for inputs, got TensorMemoryLayout::{}",
                   name_of(memory_of(input).layout.value));
  if (!tiled(input)) {
    OPWRIGHT_REQUIRE(dtype == DType::kBfloat16 || dtype == DType::kFloat32 || dtype == DType::kInt32 ||
                         dtype == DType::kUint32 || dtype == DType::kUint16,
                     "Only BFLOAT16, FLOAT32, INT32, UINT32, and UINT16 are supported for inputs with ROW_MAJOR "
                     "layout, got DataType::{}",
                     name_of(dtype));
    return {};
  }
  OPWRIGHT_REQUIRE(dtype == DType::kBfloat16 || dtype == DType::kFloat32,
                   "Only BFLOAT16, FLOAT32 are supported for inputs with TILE layout, got DataType::{}",
                   name_of(dtype));
  OPWRIGHT_REQUIRE(call.passed("dim"), "For inputs with TILE layout, dim parameter must be specified!");
  return {};
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN(const bool keepdim, call.flag("keepdim", false));
  OPWRIGHT_REQUIRE(!on_host(*input), "Input tensor must be on device");
  OPWRIGHT_CHECK_ASSIGN(const auto dims, dims_of(call, *input));
  for (const TensorSlot& slot : call.tensors) OPWRIGHT_CHECK(require_on_device(slot.spec));
  for (const std::size_t dim : dims)
    OPWRIGHT_REQUIRE(input->shape[dim] != 0, "Expected reduction dim {} to have non-zero size", dim);
  OPWRIGHT_CHECK(check_input(call, *input));
  const TensorSpec* given = call.tensor("output_tensor");
  if (given != nullptr) {
    OPWRIGHT_REQUIRE(given->dtype.value == DType::kUint32, "Only UINT32 is supported for outputs, got DataType::{}",
                     name_of(given->dtype.value));
    OPWRIGHT_REQUIRE(given->shape == reduced_shape(input->shape, dims, keepdim),
                     "Output tensor has shape {}, expected {}", shape_text(given->shape),
                     shape_text(reduced_shape(input->shape, dims, keepdim)));
    return given_back(*given, "output_tensor");
  }
  MemoryConfig memory = asked == nullptr ? memory_of(*input) : *asked;
  OPWRIGHT_REQUIRE(memory.layout.value == MemoryLayout::kInterleaved,
                   "Only INTERLEAVED memory layout is supported for outputs, got TensorMemoryLayout::{}",
                   name_of(memory.layout.value));
  TensorSpec out = moved(*input, reduced_shape(input->shape, dims, keepdim), std::move(memory));
  out.dtype.value = DType::kUint32;
  out.layout.value = Layout::kRowMajor;
  return made(std::move(out), board);
}

Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  OPWRIGHT_CHECK_ASSIGN(const auto dims, dims_of(job.call, input.spec));
  const Shape& shape = input.spec.shape;
  // All dimensions count as one row; otherwise there is exactly one.
  std::int64_t inner = 1;
  std::int64_t count = input.size();
  if (dims.size() == 1) {
    count = shape[dims[0]];
    for (std::size_t i = dims[0] + 1; i < shape.size(); ++i) inner *= shape[i];
  }
  const auto line_of = [inner, count](std::int64_t element) {
    return element / inner * inner * count + element % inner;
  };
  Exact exact;
  // Kernels that compare signs first take 0 for larger than -0: the first of either sign will do.
  exact.same_choice = [&input, line_of, inner, count](std::int64_t element, double expected, double actual) {
    if (!(actual >= 0 && actual < static_cast<double>(count) && expected >= 0 &&
          expected < static_cast<double>(count)) ||
        input.integer())
      return false;
    const std::int64_t base = line_of(element);
    const auto place = static_cast<std::int64_t>(actual);
    const auto value = [&](std::int64_t at) { return input.at(base + at * inner); };
    if (static_cast<double>(place) != actual || value(place) != 0 || value(static_cast<std::int64_t>(expected)) != 0)
      return false;
    for (std::int64_t k = 0; k < place; ++k)
      if (value(k) == 0 && std::signbit(value(k)) == std::signbit(value(place))) return false;
    return true;
  };
  for (std::int64_t r = 0; r < job.rows.count(); ++r) {
    for (std::int64_t i = 0; i < job.rows.length; ++i) {
      const std::int64_t base = line_of(job.rows.at(r) * job.rows.length + i);
      std::int64_t best = 0;
      for (std::int64_t k = 1; k < count; ++k)
        if (input.at(base + k * inner) > input.at(base + best * inner)) best = k;
      exact.value.push_back(static_cast<double>(best));
    }
  }
  return exact;
}

ErrorBudget budget(const BoundCall&, std::span<const OutputSpec>, std::size_t) {
  // As the library's kernels have it, on one core and on many, and its golden function.
  return {.kind = ErrorBudget::Kind::kSelection, .why = "the first position of the largest value"};
}

}  // namespace

const OpSpec& argmax_op() {
  static const OpSpec spec{
      .name = "ttnn.argmax",
      .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kRanked},
                 {.name = "dim", .era1 = 1},
                 {.name = "keepdim", .era1 = 2},
                 {.name = "sub_core_grids", .era1 = 3, .lost = Lost::kNoMatter},
                 {.name = "memory_config", .era1 = 5},
                 {.name = "output_tensor", .era1 = 6, .role = Role::kBuffer},
                 {.name = "enable_secondary_dm"},
                 {.name = "use_multicore", .era1 = 4, .lost = Lost::kNoMatter}},
      .infer = infer,
      .reference = reference,
      .budget = budget,
      .ranks_all = true,
  };
  return spec;
}

}  // namespace opwright
