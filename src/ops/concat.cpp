#include <fmt/format.h>

#include <algorithm>

#include "ops/op.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"
#include "ops/shared/movement_tiles.h"

namespace opwright {
namespace {

Checked<void> require_same_shapes(const std::vector<const TensorSpec*>& tensors, std::size_t dim) {
  const Shape& first = tensors[0]->shape;
  for (const TensorSpec* tensor : tensors) {
    bool same = tensor->shape.size() == first.size();
    for (std::size_t i = 0; same && i < first.size(); ++i) same = i == dim || tensor->shape[i] == first[i];
    OPWRIGHT_REQUIRE(same,
                     "All dimensions must be the same size except for the dimension along which the contenation is "
                     "taking place.");
  }
  return {};
}

// Parts that end within a tile are put together as rows.
bool by_rows(const std::vector<const TensorSpec*>& tensors, std::size_t dim) {
  if (!std::ranges::any_of(tensors, [](const TensorSpec* tensor) { return tiled(*tensor); })) return false;
  return std::ranges::any_of(tensors, [&](const TensorSpec* tensor) {
    const Shape padded = padded_shape(tensor->shape, Layout::kTile);
    const std::size_t from_end = tensor->shape.size() - dim;
    return last(padded, from_end) != tensor->shape[dim];
  });
}

Checked<void> require_same_place(const std::vector<const TensorSpec*>& tensors, const MemoryConfig& memory) {
  const TensorSpec& first = *tensors[0];
  const MemoryConfig own = memory_of(first);
  for (const TensorSpec* tensor : tensors) {
    const MemoryConfig place = memory_of(*tensor);
    OPWRIGHT_REQUIRE(tensor->layout == first.layout, "All Tensors should have same layouts.");
    OPWRIGHT_REQUIRE(tensor->dtype == first.dtype, "All Tensors should have same dtypes.");
    OPWRIGHT_REQUIRE(place.sharded() == own.sharded(), "All tensors must be sharded or all must be interleaved");
    if (!own.sharded() || !own.shard || !place.shard) continue;
    OPWRIGHT_REQUIRE(place.shard->grid == own.shard->grid, "Sharded tensors must have the same grid.");
  }
  if (!own.sharded() || !memory.sharded() || !in_l1(own) || !own.shard || !memory.shard) return {};
  OPWRIGHT_REQUIRE(memory.layout == own.layout, "Sharded output and inputs must have the same memory layout.");
  OPWRIGHT_REQUIRE(memory.shard->grid == own.shard->grid, "Sharded output and inputs must have the same grid.");
  return {};
}

Checked<std::size_t> read_dim(const BoundCall& call, std::size_t rank) {
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t dim, call.integer("dim", 0));
  return dimension(dim, rank);
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  if (call.find("tensors")->as_list() == nullptr) return type_error(call.op, "tensors", *call.find("tensors"));
  const std::vector<const TensorSpec*> tensors = call.tensor_list("tensors");
  if (tensors.size() != call.find("tensors")->as_list()->size())
    return type_error(call.op, "tensors", *call.find("tensors"));
  OPWRIGHT_REQUIRE(!tensors.empty(), "ttnn.concat: expected a non-empty list of Tensors!");
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t groups, call.integer("groups", 1));
  OPWRIGHT_REQUIRE(call.tensor("output_tensor") == nullptr, "optional output tensor currently unsupported!");
  if (groups != 1) return unsupported("groups", "concat in groups");
  const TensorSpec& first = *tensors[0];
  const MemoryConfig memory = asked == nullptr ? interleaved(BufferType::kDram) : *asked;
  for (const TensorSpec* tensor : tensors) {
    OPWRIGHT_REQUIRE(!on_host(*tensor),
                     "ttnn.concat: expected a tensor with device storage, but got a tensor with storage type "
                     "StorageType::HOST");
    OPWRIGHT_CHECK(require_allocated(*tensor));
    if (tensor->shape.size() == 1) OPWRIGHT_CHECK(require_pages(*tensor));
  }
  OPWRIGHT_CHECK_ASSIGN(const std::size_t dim, read_dim(call, first.shape.size()));
  OPWRIGHT_CHECK(require_same_shapes(tensors, dim));
  Shape shape = first.shape;
  shape[dim] = 0;
  for (const TensorSpec* tensor : tensors) shape[dim] += tensor->shape[dim];
  TensorSpec out = moved(first, std::move(shape), memory);
  if (tensors.size() > 1 && by_rows(tensors, dim)) {
    for (const TensorSpec* tensor : tensors) {
      OPWRIGHT_REQUIRE(tiled(*tensor), "ttnn.concat: expected all input tensors to be in tile layout");
      OPWRIGHT_REQUIRE(tensor->dtype.value != DType::kBfloat4B, "Only TILE layout is supported for BFLOAT8_B dtype!");
      OPWRIGHT_REQUIRE(tensor->dtype == first.dtype, "All Tensors should have same dtypes.");
      OPWRIGHT_REQUIRE(memory_of(first).layout.value != MemoryLayout::kHeightSharded || sharded(*tensor),
                       "All tensors must be sharded or all must be interleaved");
      OPWRIGHT_CHECK(rows_memory(*tensor, nullptr, tensor->shape));
    }
    out.dtype.value = row_dtype(first.dtype.value);
    return made(std::move(out), board);
  }
  OPWRIGHT_CHECK_ASSIGN(std::vector<OutputSpec> outputs, made(std::move(out), board));
  OPWRIGHT_CHECK(require_same_place(tensors, memory));
  return outputs;
}

Checked<Exact> reference(const ReferenceJob& job) {
  const Shape& shape = job.outputs[job.output].spec.shape;
  OPWRIGHT_CHECK_ASSIGN(const std::size_t dim, read_dim(job.call, shape.size()));
  const std::size_t count = job.call.tensor_list("tensors").size();
  std::vector<const HostTensor*> parts;
  for (std::size_t i = 0; i < count; ++i) parts.push_back(job.input("tensors", i));
  return rows_of(job, [&](const Shape& index, std::vector<double>& out) {
    Shape at = index;
    for (const HostTensor* part : parts) {
      const Shape& own = part->spec.shape;
      const bool along_rows = dim + 1 == shape.size();
      if (!along_rows && at[dim] >= own[dim]) {
        at[dim] -= own[dim];
        continue;
      }
      const Shape strides = strides_of(own);
      std::int64_t start = 0;
      for (std::size_t i = 0; i < at.size(); ++i) start += at[i] * strides[i];
      append_elements(*part, start, own.back(), 1, out);
      if (!along_rows) return;
    }
  });
}

}  // namespace

const OpSpec& concat_op() {
  static const OpSpec spec{.name = "ttnn.concat",
                           .params = {{.name = "tensors", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "dim", .era1 = 1},
                                      {.name = "memory_config", .era1 = 2},
                                      {.name = "output_tensor", .era1 = 3, .role = Role::kBuffer},
                                      {.name = "groups", .era1 = 4},
                                      {.name = "sub_core_grids", .lost = Lost::kNoMatter}},
                           .infer = infer,
                           .reference = reference,
                           .budget = exact_budget};
  return spec;
}

}  // namespace opwright
