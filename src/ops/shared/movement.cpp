#include "ops/shared/movement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "model/host_tensor.h"

namespace opwright {

Checked<const TensorSpec*> tensor_argument(const BoundCall& call, std::string_view param) {
  const TensorSpec* spec = call.tensor(param);
  if (spec != nullptr) return spec;
  const Value* value = call.find(param);
  return type_error(call.op, param, value == nullptr ? Value() : *value);
}

Checked<const MemoryConfig*> memory_argument(const BoundCall& call, std::string_view param) {
  if (!call.passed(param)) return nullptr;
  const MemoryConfig* memory = call.memory(param);
  if (memory == nullptr) return type_error(call.op, param, *call.find(param));
  return memory;
}

Checked<DType> dtype_argument(const BoundCall& call, std::string_view param, DType otherwise) {
  if (call.convention == Convention::kPython && call.passed(param) && call.find(param)->as_enum() == nullptr)
    return type_error(call.op, param, *call.find(param));
  return call.dtype(param, otherwise);
}

Checked<double> number_argument(const BoundCall& call, std::string_view param, double otherwise) {
  if (const Value* value = call.find(param))
    if (const auto* big = std::get_if<BigInt>(&value->data())) return std::strtod(big->digits.c_str(), nullptr);
  return call.number(param, otherwise);
}

Checked<Shape> list_argument(const BoundCall& call, std::string_view param) {
  const Value* value = call.find(param);
  if (value == nullptr || value->is_null() || value->as_int() != nullptr || value->as_string() != nullptr)
    return type_error(call.op, param, value == nullptr ? Value() : *value);
  OPWRIGHT_CHECK_ASSIGN(const auto read, call.ints(param));
  return read.value_or(Shape{});
}

Checked<Shape> sizes_argument(const BoundCall& call, std::string_view param) {
  OPWRIGHT_CHECK_ASSIGN(Shape sizes, list_argument(call, param));
  if (std::ranges::any_of(sizes, [](std::int64_t n) { return n < 0 || n > 0xFFFFFFFFLL; }))
    return type_error(call.op, param, *call.find(param));
  return sizes;
}

Checked<std::size_t> dimension(std::int64_t dim, std::size_t rank) {
  const auto n = static_cast<std::int64_t>(rank);
  const std::int64_t index = dim < 0 ? dim + n : dim;
  OPWRIGHT_REQUIRE(index >= 0 && index < n,
                   "Index is out of bounds for the rank, should be between 0 and {} however is {}", n - 1, index);
  return static_cast<std::size_t>(index);
}

Checked<void> require_on_device(const TensorSpec& spec) {
  OPWRIGHT_REQUIRE(!on_host(spec), "Device Operations expect device tensors as inputs");
  OPWRIGHT_REQUIRE(!deallocated(spec), "Input Tensor is not allocated");
  return {};
}

Checked<void> require_allocated(const TensorSpec& spec) {
  OPWRIGHT_REQUIRE(!deallocated(spec), "Tensor is not allocated");
  return {};
}

Checked<void> require_pages(const TensorSpec& spec) {
  OPWRIGHT_REQUIRE(volume(padded_shape(spec)) > 0, "a tensor of {} has no pages to work on", shape_text(spec.shape));
  return {};
}

bool same_memory(const MemoryConfig& a, const MemoryConfig& b) {
  if (!(a.layout == b.layout) || !(a.buffer == b.buffer) || a.shard.has_value() != b.shard.has_value()) return false;
  if (!a.shard) return true;
  return a.shard->grid == b.shard->grid && a.shard->shape == b.shard->shape &&
         a.shard->orientation == b.shard->orientation;
}

bool in_l1(const MemoryConfig& memory) {
  return memory.buffer.value == BufferType::kL1 || memory.buffer.value == BufferType::kL1Small;
}

MemoryConfig with_shard(const MemoryConfig& memory, ShardSpec shard) {
  MemoryConfig out = memory;
  out.shard = std::move(shard);
  out.nd_shard.reset();
  return out;
}

bool tiled(const TensorSpec& spec) { return spec.layout.value == Layout::kTile; }

std::int64_t last(const Shape& shape, std::size_t from_end) {
  return shape.size() < from_end ? 1 : shape[shape.size() - from_end];
}

std::int64_t page_bytes(const TensorSpec& spec) {
  const MemoryConfig memory = memory_of(spec);
  const bool split = memory.sharded() && memory.shard && memory.shard->shape.size() == 2 &&
                     memory.layout.value != MemoryLayout::kHeightSharded;
  return (split ? memory.shard->shape[1] : last(padded_shape(spec))) * element_bytes(spec.dtype.value);
}

TensorSpec moved(const TensorSpec& input, Shape shape, MemoryConfig memory) {
  TensorSpec out;
  out.shape = std::move(shape);
  out.has_shape = true;
  out.dtype = input.dtype;
  out.layout = input.layout;
  out.storage.value = StorageType::kDevice;
  out.memory = std::move(memory);
  out.placement = input.placement;
  out.tile = input.tile;
  return out;
}

Checked<std::vector<OutputSpec>> made(OutputSpec output, const Board& board) {
  OPWRIGHT_CHECK(check_tensor(output.spec, board));
  return std::vector{std::move(output)};
}

Checked<std::vector<OutputSpec>> made(TensorSpec spec, const Board& board) {
  OPWRIGHT_CHECK(check_tensor(spec, board));
  return std::vector{output_spec(std::move(spec))};
}

std::vector<OutputSpec> given_back(const TensorSpec& spec, std::string_view param) {
  OutputSpec output = output_spec(spec);
  output.alias = param;
  return std::vector{std::move(output)};
}

ErrorBudget exact_budget(const BoundCall&, std::span<const OutputSpec> outputs, std::size_t output) {
  const DType dtype = outputs[output].spec.dtype.value;
  return {.kind = ErrorBudget::Kind::kExact,
          .why = is_block_float(dtype) ? "values move, exponents are shared anew" : "values move"};
}

}  // namespace opwright
