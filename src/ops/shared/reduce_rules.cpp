#include "ops/shared/reduce_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dialect/ttnn/compute_config.h"
#include "model/host_tensor.h"
#include "model/tensor_facts.h"
#include "ops/shared/movement.h"

namespace opwright {
namespace {

constexpr std::int64_t kTile = 32;

bool one_inner_dim(const std::vector<std::size_t>& dims, std::size_t rank) {
  return dims.size() == 1 && dims[0] + 2 >= rank;
}

// Row-major inputs keep their layout where a kernel for them exists.
Layout reduced_layout(const BoundCall& call, const TensorSpec& input, const std::vector<std::size_t>& dims,
                      const Reduction& how, const MemoryConfig& out) {
  if (tiled(input) || how.selects || how.spread != Reduction::Spread::kNone) return Layout::kTile;
  if (is_integer(input.dtype.value) || sharded(input) || out.sharded()) return Layout::kTile;
  const std::size_t rank = input.shape.size();
  const bool both = dims.size() == 2 && dims[0] + 2 == rank && dims[1] + 1 == rank && call.passed("dim");
  if (how.averages) return both ? Layout::kTile : Layout::kRowMajor;
  if (input.dtype.value == DType::kFloat32) return Layout::kRowMajor;
  return one_inner_dim(dims, rank) ? Layout::kRowMajor : Layout::kTile;
}

// A sharded place fitted to what is left of the tensor. Shards that reach over the whole height are cut by width.
Checked<MemoryConfig> fitted(const TensorSpec& input, MemoryConfig memory, const Shape& shape) {
  if (!memory.sharded()) return memory;
  if (!memory.shard && sharded(input)) memory.shard = memory_of(input).shard;
  OPWRIGHT_REQUIRE(memory.shard && memory.shard->shape.size() == 2,
                   "Sharded memory layout TensorMemoryLayout::{} requires either nd_shard_spec or shard_spec to be set "
                   "on the output memory config or the input tensor",
                   name_of(memory.layout.value));
  ShardSpec shard = *memory.shard;
  const bool block = memory.layout.value == MemoryLayout::kBlockSharded;
  OPWRIGHT_REQUIRE(!block || shard.grid.size() == 1, "Block sharding requires a single CoreRange, got {} ranges",
                   shard.grid.size());
  const Shape padded = padded_shape(shape, Layout::kTile);
  Shape2D physical{1, padded.back()};
  for (std::size_t i = 0; i + 1 < padded.size(); ++i) physical.height *= padded[i];
  shard.shape = {std::min(shard.shape[0], physical.height), std::min(shard.shape[1], physical.width)};
  if (!block) {
    if (shard.shape[0] == physical.height)
      memory.layout.value = MemoryLayout::kWidthSharded;
    else if (shard.shape[1] == physical.width)
      memory.layout.value = MemoryLayout::kHeightSharded;
  }
  return with_shard(memory, std::move(shard));
}

// Padding is filled with the neutral value before it is reduced; sharded tensors only one matrix at a time.
Checked<void> check_padding(const TensorSpec& input, const std::vector<std::size_t>& dims) {
  if (!tiled(input) || input.shape.empty()) return {};
  const Shape padded = padded_shape(input);
  const std::size_t rank = input.shape.size();
  const bool filled = std::ranges::any_of(
      dims, [&](std::size_t dim) { return dim + 2 >= rank && padded[padded.size() - rank + dim] != input.shape[dim]; });
  if (!filled) return {};
  OPWRIGHT_REQUIRE(input.dtype.value != DType::kUint8, "Unsupported datatype DataType::{}", name_of(input.dtype.value));
  std::int64_t slices = 1;
  for (std::size_t i = 0; i + 2 < rank; ++i) slices *= input.shape[i];
  OPWRIGHT_REQUIRE(!sharded(input) || slices == 1,
                   "FillPadL1ShardedProgramFactory: N_slices > 1 not yet supported (got {})", slices);
  return {};
}

Checked<void> check_dtype(const TensorSpec& input, const Reduction& how) {
  const DType dtype = input.dtype.value;
  if (how.spread != Reduction::Spread::kNone)
    OPWRIGHT_REQUIRE(dtype == DType::kBfloat16 || dtype == DType::kFloat32 || dtype == DType::kBfloat8B,
                     "Only FLOAT32, BFLOAT16, and BFLOAT8_B are supported for Std/Var reduction - got DataType::{}",
                     name_of(dtype));
  if (how.name == "ttnn.prod")
    OPWRIGHT_REQUIRE(dtype == DType::kBfloat16 || dtype == DType::kFloat32 || dtype == DType::kBfloat8B,
                     "Error - unsupported data type for prod, expected BFLOAT16, FLOAT32 or BFLOAT8_B but got "
                     "DataType::{}.",
                     name_of(dtype));
  if (how.averages)
    OPWRIGHT_REQUIRE(dtype != DType::kInt32 && dtype != DType::kUint32,
                     "{} does not support integer inputs - got DataType::{}.", how.name, name_of(dtype));
  OPWRIGHT_REQUIRE(dtype == DType::kBfloat16 || dtype == DType::kFloat32 || dtype == DType::kBfloat8B ||
                       dtype == DType::kUint32 || dtype == DType::kInt32,
                   "Only FLOAT32, BFLOAT16, BFLOAT8_B, and UINT32 are supported for generic reduction (INT32 is "
                   "supported for MAX/MIN/SUM) - got DataType::{}.",
                   name_of(dtype));
  return {};
}

}  // namespace

Checked<std::vector<std::size_t>> reduce_dims(const BoundCall& call, std::size_t rank) {
  OPWRIGHT_CHECK_ASSIGN(auto named, call.ints("dim"));
  std::vector<std::size_t> out;
  if (!named || named->empty()) {
    for (std::size_t i = 0; i < rank; ++i) out.push_back(i);
    return out;
  }
  const auto n = static_cast<std::int64_t>(rank);
  for (std::size_t i = 0; i < named->size(); ++i) {
    std::int64_t dim = (*named)[i];
    if (dim < 0) dim += std::max<std::int64_t>(n, 1);
    OPWRIGHT_REQUIRE((dim >= 0 && dim < n) || (n == 0 && dim == 0),
                     "Unsupported dim {} at index {}. After possible adjustment, needs to be at least 0 and less than "
                     "rank {}, or exactly 0 for a rank 0 tensor.",
                     dim, i, n);
    if (n > 0) out.push_back(static_cast<std::size_t>(dim));
  }
  std::ranges::sort(out);
  for (std::size_t i = 1; i < out.size(); ++i)
    OPWRIGHT_REQUIRE(out[i] != out[i - 1],
                     "reduce dim list contains a duplicate axis after sorting (indices {} and {}, value {})", i - 1, i,
                     out[i]);
  return out;
}

Shape reduced_shape(const Shape& shape, const std::vector<std::size_t>& dims, bool keepdim) {
  Shape out;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!std::ranges::binary_search(dims, i))
      out.push_back(shape[i]);
    else if (keepdim)
      out.push_back(1);
  }
  return out;
}

Checked<std::vector<OutputSpec>> infer_reduce(const BoundCall& call, const Board& board, const Reduction& how) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN(const bool keepdim, call.flag("keepdim", false));
  OPWRIGHT_CHECK(compute_argument(call, {}));
  OPWRIGHT_CHECK(call.number("scalar", 1.0));
  OPWRIGHT_CHECK_ASSIGN(const auto dims, reduce_dims(call, input->shape.size()));
  OPWRIGHT_CHECK(require_on_device(*input));
  if (how.selects)
    for (const std::size_t dim : dims)
      OPWRIGHT_REQUIRE(input->shape[dim] != 0, "Expected reduction dim {} to have non-zero size", dim);
  OPWRIGHT_CHECK(check_padding(*input, dims));
  OPWRIGHT_CHECK(check_dtype(*input, how));
  const MemoryConfig memory = asked == nullptr ? memory_of(*input) : *asked;
  const Shape kept = reduced_shape(input->shape, dims, true);
  if (memory.sharded() && memory.shard && !one_inner_dim(dims, input->shape.size()) && asked != nullptr) {
    // Reductions of several dimensions go through a tensor that lies where the result is wanted.
    TensorSpec between = moved(*input, kept, memory);
    between.layout.value = Layout::kTile;
    OPWRIGHT_REQUIRE(memory.layout.value != MemoryLayout::kBlockSharded || memory.shard->grid.size() == 1,
                     "Block sharding requires a single CoreRange, got {} ranges", memory.shard->grid.size());
    OPWRIGHT_CHECK(check_tensor(between, board));
  }
  const Shape shape = keepdim ? kept : reduced_shape(input->shape, dims, false);
  OPWRIGHT_CHECK_ASSIGN(MemoryConfig out, fitted(*input, memory, shape));
  const Layout layout = reduced_layout(call, *input, dims, how, out);
  TensorSpec spec = moved(*input, shape, std::move(out));
  OPWRIGHT_CHECK_ASSIGN(spec.layout.value, call.layout("output_layout", layout));
  return made(std::move(spec), board);
}

Exact reduce_exact(const HostTensor& input, const std::vector<std::size_t>& dims, const Reduction& how, double factor,
                   const Rows& rows, double correction) {
  const Shape& shape = input.spec.shape;
  const std::size_t rank = shape.size();
  Shape stride(rank, 1);
  for (std::size_t i = rank; i-- > 1;) stride[i - 1] = stride[i] * shape[i];
  Shape kept;  // sizes and steps of the dimensions that stay, and of those that go
  Shape kept_stride;
  Shape gone;
  Shape gone_stride;
  for (std::size_t i = 0; i < rank; ++i) {
    const bool reduced = std::ranges::binary_search(dims, i);
    (reduced ? gone : kept).push_back(shape[i]);
    (reduced ? gone_stride : kept_stride).push_back(stride[i]);
  }
  const std::int64_t count = volume(gone);
  const auto offset = [](std::int64_t index, const Shape& sizes, const Shape& steps) {
    std::int64_t at = 0;
    for (std::size_t i = sizes.size(); i-- > 0;) {
      at += index % sizes[i] * steps[i];
      index /= sizes[i];
    }
    return at;
  };
  Shape offsets(static_cast<std::size_t>(count));
  for (std::int64_t k = 0; k < count; ++k) offsets[static_cast<std::size_t>(k)] = offset(k, gone, gone_stride);
  Exact exact;
  for (std::int64_t r = 0; r < rows.count(); ++r) {
    for (std::int64_t i = 0; i < rows.length; ++i) {
      const std::int64_t base = offset(rows.at(r) * rows.length + i, kept, kept_stride);
      double value = how.start;
      double magnitude = 0;
      double mean = 0;
      if (how.spread != Reduction::Spread::kNone)
        for (const std::int64_t step : offsets) mean += input.at(base + step) / static_cast<double>(count);
      for (const std::int64_t step : offsets) {
        const double x = input.at(base + step);
        value = how.spread != Reduction::Spread::kNone ? value + (x - mean) * (x - mean) : how.step(value, x);
        magnitude += how.spread != Reduction::Spread::kNone ? x * x : std::abs(x);
      }
      if (how.spread != Reduction::Spread::kNone) {
        const double among = static_cast<double>(count) - correction;
        const bool root = how.spread == Reduction::Spread::kDeviation;
        exact.value.push_back(factor * (root ? std::sqrt(value / among) : value / among));
        // Of a root the error of its argument counts half as much, as a part of it.
        const double size = magnitude / static_cast<double>(count);
        exact.magnitude.push_back(std::abs(factor) * (root ? std::sqrt(size) : size));
        continue;
      }
      const double scale = how.averages ? factor / static_cast<double>(count) : factor;
      exact.value.push_back(value * scale);
      if (!how.selects && !how.multiplies) exact.magnitude.push_back(magnitude * std::abs(scale));
    }
  }
  return exact;
}

Checked<Exact> reduce_reference(const ReferenceJob& job, const Reduction& how) {
  const HostTensor& input = *job.input("input_tensor");
  OPWRIGHT_CHECK_ASSIGN(const auto dims, reduce_dims(job.call, input.spec.shape.size()));
  OPWRIGHT_CHECK_ASSIGN(const double scalar, job.call.number("scalar", 1.0));
  OPWRIGHT_CHECK_ASSIGN(const bool corrected, job.call.flag("correction", true));
  return reduce_exact(input, dims, how, scalar, job.rows, corrected ? 1 : 0);
}

ErrorBudget sum_budget(std::int64_t terms) {
  return {.kind = ErrorBudget::Kind::kContraction,
          .ulps = 1,
          .relative = 0x1p-10,
          .terms = terms,
          .accumulator_bits = 24,
          .pcc = 0.9999,
          .why = fmt::format("sum of {} values, float32 destination", terms)};
}

double rounding_of_factor(double factor) {
  if (factor == 0 || !std::isfinite(factor)) return 0;
  int exponent = 0;
  const double held = std::ldexp(std::frexp(std::abs(factor), &exponent), 8);  // 8 bits before the point
  return (held - std::floor(held)) / held;                                     // cut; the nearest one is no further
}

ErrorBudget reduce_budget(const BoundCall& call, const Reduction& how) {
  if (how.selects) return {.kind = ErrorBudget::Kind::kSelection, .why = "one of the values"};
  const TensorSpec* input = call.tensor("input_tensor");
  std::int64_t terms = 1;
  std::int64_t passes = 0;
  if (input != nullptr) {
    const auto dims = reduce_dims(call, input->shape.size());
    if (dims)
      for (const std::size_t dim : *dims) {
        terms *= input->shape[dim];
        if (input->shape[dim] > 1) ++passes;
      }
  }
  ErrorBudget budget = how.budget(terms);
  if (how.spread != Reduction::Spread::kNone)
    return {.kind = ErrorBudget::Kind::kElementwise,
            .ulps = 4,
            .relative = 0x1p-7,
            .why = fmt::format("spread of {} values around their mean, modelled", terms)};
  // What the source registers do not hold of a float32, as in products.
  if (input != nullptr && input->dtype.value == DType::kFloat32) budget.relative += 0x1p-10;
  const double scalar = call.number("scalar", 1.0).value_or(1.0);
  // What a product loses at each step all of a row may lose alike: its own bound is all that is known.
  if (!how.multiplies)
    budget.common = rounding_of_factor(how.averages && terms > 0 ? scalar / static_cast<double>(terms) : scalar);
  // One dimension after the other; between them the sums lie in memory.
  budget.passes = std::max<std::int64_t>(passes, 1);
  if (passes > 1) budget.why += fmt::format(", rounded {} times", passes);
  return budget;
}

std::vector<Param> reduce_params(const Reduction& how) {
  std::vector<Param> out{{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                         {.name = "dim", .era1 = 1},
                         {.name = "keepdim", .era1 = 2},
                         {.name = "memory_config", .era1 = 3},
                         {.name = "compute_kernel_config", .era1 = 4},
                         {.name = "scalar", .era1 = 5},
                         {.name = "correction", .era1 = 6},
                         {.name = "sub_core_grids", .era1 = 7, .lost = Lost::kNoMatter},
                         {.name = "fast_and_approximate_mode"}};
  if (!how.selects) out.push_back({.name = "output_layout"});
  return out;
}

}  // namespace opwright
