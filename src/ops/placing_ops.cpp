// Operators that put the elements of one tensor in other places, a row each: what comes out, and where each element of
// that came from.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "ops/families.h"
#include "ops/shared/attention_rules.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"
#include "ops/shared/movement_reshape.h"
#include "ops/shared/movement_shards.h"

namespace opwright {
namespace {

using Outputs = Checked<std::vector<OutputSpec>>;
constexpr std::int64_t kNothing = -1;  // a zero stands there

// Where an element of output `output` at `index` comes from, in the first tensor of the call (in its item `output` of
// lists that are joined).
struct Asked {
  const BoundCall& call;
  const Shape& from;
  const Shape& to;
  std::size_t output;
};

std::int64_t place_of(const Shape& shape, const Shape& index) {
  std::int64_t at = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) at = at * shape[i] + index[i];
  return at;
}

// A dimension of the call, from the front; 0 where it is out of range (infer refused that).
std::size_t dim_of(const BoundCall& call, std::size_t rank, std::int64_t otherwise, std::string_view param = "dim") {
  const auto dim = call.integer(param, otherwise);
  const auto n = static_cast<std::int64_t>(rank);
  if (!dim) return 0;
  return static_cast<std::size_t>(
      std::clamp<std::int64_t>(*dim < 0 ? *dim + n : *dim, 0, std::max<std::int64_t>(n - 1, 0)));
}

struct Placing {
  std::string_view name;
  std::string_view input;
  std::vector<Param> (*more)();  // parameters behind the input
  Outputs (*infer)(const TensorSpec& input, const BoundCall& call, const Board& board);
  std::int64_t (*from)(const Asked& asked, const Shape& index);
};

// The same place for the result as for the input, unless another is asked for.
Outputs same_place(const TensorSpec& input, const BoundCall& call, const Board& board, Shape shape) {
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK(require_on_device(input));
  const MemoryConfig memory =
      asked == nullptr ? memory_of(input)
                       : completed(*asked, input, padded_shape(input), padded_shape(shape, input.layout.value), board);
  return made(moved(input, std::move(shape), memory), board);
}

Checked<std::size_t> in_range(const BoundCall& call, const Shape& shape, std::int64_t otherwise = 0) {
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t dim, call.integer("dim", otherwise));
  const auto rank = static_cast<std::int64_t>(shape.size());
  OPWRIGHT_REQUIRE(dim >= -rank && dim < rank,
                   "Index is out of bounds for the rank, should be between 0 and {} however is {}", rank - 1, dim);
  return static_cast<std::size_t>(dim < 0 ? dim + rank : dim);
}

// --- shifts and repetitions

Outputs infer_roll(const TensorSpec& input, const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const auto shifts, call.ints("shifts"));
  OPWRIGHT_CHECK_ASSIGN(const auto dims, call.ints("dim"));
  if (!shifts) return type_error(call.op, "shifts", Value());
  OPWRIGHT_REQUIRE(!dims || shifts->size() == dims->size(),
                   "Roll expects shifts {} and dims {} to have the same length", shifts->size(),
                   dims ? dims->size() : 0);
  const auto rank = static_cast<std::int64_t>(input.shape.size());
  for (const std::int64_t dim : dims.value_or(Shape{}))
    OPWRIGHT_REQUIRE(dim >= -rank && dim < rank,
                     "Invalid dimension index {}. The dimension must be within the range [{}, {}]", dim, -rank,
                     rank - 1);
  if (is_block_float(input.dtype.value)) return unsupported("input_tensor", "rolling block floats");
  return same_place(input, call, board, input.shape);
}
std::int64_t from_roll(const Asked& asked, const Shape& index) {
  const Shape shifts = asked.call.ints("shifts").value_or(std::nullopt).value_or(Shape{});
  const auto dims = asked.call.ints("dim").value_or(std::nullopt);
  const auto turned = [](std::int64_t at, std::int64_t by, std::int64_t size) {
    return ((at - by) % size + size) % size;
  };
  if (!dims) {
    const std::int64_t size = volume(asked.from);
    return turned(place_of(asked.to, index), std::accumulate(shifts.begin(), shifts.end(), std::int64_t{0}), size);
  }
  Shape source = index;
  for (std::size_t i = 0; i < dims->size(); ++i) {
    const auto d =
        static_cast<std::size_t>((*dims)[i] < 0 ? (*dims)[i] + static_cast<std::int64_t>(index.size()) : (*dims)[i]);
    source[d] = turned(source[d], shifts[i], asked.from[d]);
  }
  return place_of(asked.from, source);
}

Outputs infer_repeat_interleave(const TensorSpec& input, const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t repeats, call.integer("repeats", 1));
  OPWRIGHT_CHECK_ASSIGN(const std::size_t dim, in_range(call, input.shape));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_REQUIRE(repeats > 0, "repeats must be greater than 0, got {}", repeats);
  OPWRIGHT_CHECK(require_on_device(input));
  Shape shape = input.shape;
  shape[dim] *= repeats;
  const MemoryConfig own = memory_of(input);
  return made(moved(input, std::move(shape),
                    asked != nullptr ? *asked : interleaved(own.sharded() ? BufferType::kDram : own.buffer.value)),
              board);
}
std::int64_t from_repeat_interleave(const Asked& asked, const Shape& index) {
  Shape source = index;
  const std::size_t dim = dim_of(asked.call, index.size(), 0);
  source[dim] /= asked.call.integer("repeats", 1).value_or(1);
  return place_of(asked.from, source);
}

// --- parts of a tensor

// Sizes of the parts along the dimension.
Checked<Shape> parts_of(const BoundCall& call, std::int64_t size, std::size_t dim) {
  Shape out;
  if (call.op == "ttnn.chunk") {
    OPWRIGHT_CHECK_ASSIGN(const std::int64_t chunks, call.integer("chunks", 1));
    OPWRIGHT_REQUIRE(chunks > 0, "chunks must be greater than 0, but got: {}", chunks);
    const std::int64_t each = std::max<std::int64_t>((size + chunks - 1) / chunks, 1);
    for (std::int64_t at = 0; at < size; at += each) out.push_back(std::min(each, size - at));
    return out;
  }
  const Value* asked = call.find("split_size");
  if (asked != nullptr && asked->as_list() == nullptr) {
    OPWRIGHT_CHECK_ASSIGN(const std::int64_t each, call.integer("split_size", 0));
    OPWRIGHT_REQUIRE(each > 0, "split_size must be greater than 0, but got: {}", each);
    for (std::int64_t at = 0; at < size; at += each) out.push_back(std::min(each, size - at));
    return out;
  }
  OPWRIGHT_CHECK_ASSIGN(out, list_argument(call, "split_size"));
  const std::int64_t sum = std::accumulate(out.begin(), out.end(), std::int64_t{0});
  OPWRIGHT_REQUIRE(sum == size && std::ranges::all_of(out, [](std::int64_t n) { return n > 0; }),
                   "split_sizes must sum exactly to the size of dimension {} ({}), but they sum to {}", dim, size, sum);
  return out;
}

Outputs infer_parts(const TensorSpec& input, const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const std::size_t dim, in_range(call, input.shape));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN(const Shape parts, parts_of(call, input.shape[dim], dim));
  OPWRIGHT_CHECK(require_on_device(input));
  std::vector<OutputSpec> out;
  std::int64_t begin = 0;
  for (const std::int64_t part : parts) {
    Shape shape = input.shape;
    shape[dim] = part;
    const MemoryConfig memory = completed(asked == nullptr ? memory_of(input) : *asked, input, padded_shape(input),
                                          padded_shape(shape, input.layout.value), board);
    TensorSpec spec = moved(input, std::move(shape), memory);
    // Block floats that do not begin with a tile go through rows.
    if (is_block_float(input.dtype.value) && dim + 2 >= input.shape.size() && begin % 32 != 0)
      spec.dtype.value = DType::kBfloat16;
    begin += part;
    OPWRIGHT_CHECK(add_output(out, std::move(spec), board));
  }
  return out;
}
std::int64_t from_parts(const Asked& asked, const Shape& index) {
  const std::size_t dim = dim_of(asked.call, index.size(), 0);
  const Shape parts = parts_of(asked.call, asked.from[dim], dim).value_or(Shape{});
  Shape source = index;
  for (std::size_t i = 0; i < asked.output; ++i) source[dim] += parts[i];
  return place_of(asked.from, source);
}

// --- growing

Outputs infer_expand(const TensorSpec& input, const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(Shape shape, list_argument(call, "output_shape"));
  OPWRIGHT_REQUIRE(shape.size() >= input.shape.size(), "Output rank must be >= input rank for expand");
  const std::size_t more = shape.size() - input.shape.size();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t own = i < more ? 1 : input.shape[i - more];
    if (shape[i] == -1) shape[i] = own;
    OPWRIGHT_REQUIRE(shape[i] == own || own == 1, "Only size 1 dimensions can be expanded in the output shape");
  }
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK(require_on_device(input));
  OPWRIGHT_REQUIRE(call.op == "ttnn.expand" || (tiled(input) && !sharded(input)),
                   "bcast_to: Invalid tensor memory layout Layout::ROW_MAJOR. Input tensor layout must be TILE.");
  MemoryConfig memory = asked == nullptr ? memory_of(input) : *asked;
  if (memory.sharded() && memory.shard && asked == nullptr)
    memory = with_shard(memory, fresh_shard(board, padded_shape(shape, input.layout.value), memory.layout.value,
                                            memory.shard->orientation.value, tiled(input) ? 32 : 1));
  return made(moved(input, std::move(shape), std::move(memory)), board);
}
std::int64_t from_expand(const Asked& asked, const Shape& index) {
  const std::size_t more = index.size() - asked.from.size();
  std::int64_t at = 0;
  for (std::size_t i = 0; i < asked.from.size(); ++i)
    at = at * asked.from[i] + (asked.from[i] == 1 ? 0 : index[i + more]);
  return at;
}

Outputs infer_stack(const TensorSpec& input, const BoundCall& call, const Board& board) {
  const auto items = call.tensor_list("input_tensors");
  for (const TensorSpec* item : items) {
    OPWRIGHT_CHECK(require_on_device(*item));
    OPWRIGHT_REQUIRE(item->shape == input.shape, "All tensors must have the same shape");
    OPWRIGHT_REQUIRE(item->dtype.value == input.dtype.value, "All Tensors should have same dtypes.");
  }
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t dim, call.integer("dim", 0));
  const auto rank = static_cast<std::int64_t>(input.shape.size()) + 1;
  OPWRIGHT_REQUIRE(dim >= -rank && dim < rank,
                   "Dimension out of range (expected to be in range of [{},{}], but got {})", -rank, rank - 1, dim);
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  Shape shape = input.shape;
  shape.insert(shape.begin() + (dim < 0 ? dim + rank : dim), static_cast<std::int64_t>(items.size()));
  return made(moved(input, std::move(shape), asked != nullptr ? *asked : interleaved(BufferType::kDram)), board);
}

// --- triangles, pairs, channels

Outputs infer_triangle(const TensorSpec& input, const BoundCall& call, const Board& board) {
  OPWRIGHT_REQUIRE(input.dtype.value != DType::kUint8,
                   "Input tensor A dtype DataType::UINT8 is not supported for binary operation BinaryOpType::MUL");
  OPWRIGHT_CHECK(call.integer("diagonal", 0));
  OPWRIGHT_REQUIRE(input.shape.size() >= 2, "a triangle needs rows and columns, got rank {}", input.shape.size());
  OPWRIGHT_CHECK_ASSIGN(auto out, same_place(input, call, board, input.shape));
  if (tiled(input)) return out;
  // Rows come back as tiles.
  TensorSpec tiles = out.front().spec;
  tiles.layout.value = Layout::kTile;
  return made(std::move(tiles), board);
}
template <bool kLower>
std::int64_t from_triangle(const Asked& asked, const Shape& index) {
  const std::int64_t ahead = index.back() - index[index.size() - 2] - asked.call.integer("diagonal", 0).value_or(0);
  return (kLower ? ahead <= 0 : ahead >= 0) ? place_of(asked.from, index) : kNothing;
}

// Pixels as rows of channels, [1, 1, pixels, channels], and channels as rows of pixels.
Outputs infer_to_chw(const TensorSpec& input, const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN(const DType dtype, dtype_argument(call, "dtype", input.dtype.value));
  OPWRIGHT_CHECK(require_on_device(input));
  OPWRIGHT_REQUIRE(input.shape.size() == 4 && input.shape[0] == 1 && input.shape[1] == 1,
                   "Expected an input of shape [1, 1, HW, C], got {}", shape_text(input.shape));
  OPWRIGHT_REQUIRE(sharded(input) && memory_of(input).shard,
                   "Input tensor must be sharded to infer output memory config");
  const Shape shape{1, 1, input.shape[3], input.shape[2]};
  MemoryConfig memory = asked == nullptr ? memory_of(input) : *asked;
  if (asked == nullptr && memory.shard) {
    ShardSpec shard = *memory.shard;
    shard.shape = {input.shape[3], memory.shard->shape[0]};
    memory.layout.value = MemoryLayout::kWidthSharded;
    memory = with_shard(memory, std::move(shard));
  }
  TensorSpec out = moved(input, shape, std::move(memory));
  out.dtype.value = dtype;
  out.layout.value = Layout::kRowMajor;
  out.tile.reset();
  return made(std::move(out), board);
}
std::int64_t from_to_chw(const Asked& asked, const Shape& index) { return index[3] * asked.from[3] + index[2]; }

Outputs infer_same(const TensorSpec& input, const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK(require_on_device(input));
  return made(moved(input, input.shape, asked == nullptr ? memory_of(input) : *asked), board);
}
std::int64_t from_same(const Asked& asked, const Shape& index) { return place_of(asked.from, index); }

// --- other views of the same elements

Outputs infer_view(const TensorSpec& input, const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(Shape shape, list_argument(call, "shape"));
  std::int64_t known = 1;
  std::int64_t* open = nullptr;
  for (std::int64_t& n : shape) {
    if (n == -1) {
      OPWRIGHT_REQUIRE(open == nullptr, "Only one dimension can be inferred in reshape");
      open = &n;
    } else {
      known *= n;
    }
  }
  if (open != nullptr && known > 0) *open = volume(input.shape) / known;
  OPWRIGHT_REQUIRE(volume(shape) == volume(input.shape), "Invalid arguments to reshape");
  const bool width = last(shape) == last(input.shape);
  const bool height = !tiled(input) || last(shape, 2) == last(input.shape, 2) ||
                      (last(shape, 2) % 32 == 0 && last(input.shape, 2) % 32 == 0);
  OPWRIGHT_REQUIRE(width && height, "Unsupported view: shapes {} and {} are no views of one another",
                   shape_text(input.shape), shape_text(shape));
  OPWRIGHT_CHECK_ASSIGN(OutputSpec out,
                        reshape_output(input, {.shape = std::move(shape), .alias = call.tensors[0].param}, board));
  return std::vector{std::move(out)};
}

std::vector<Param> nothing() { return {{.name = "memory_config"}}; }
std::vector<Param> of_roll() {
  return {{.name = "shifts", .required = true}, {.name = "dim"}, {.name = "memory_config"}};
}
std::vector<Param> of_repeat_interleave() {
  return {{.name = "repeats", .required = true}, {.name = "dim"}, {.name = "memory_config"}};
}
std::vector<Param> of_split() {
  return {{.name = "split_size", .required = true}, {.name = "dim"}, {.name = "memory_config"}};
}
std::vector<Param> of_chunk() { return {{.name = "chunks", .required = true}, {.name = "dim"}}; }
std::vector<Param> of_expand() { return {{.name = "output_shape", .required = true}, {.name = "memory_config"}}; }
std::vector<Param> of_stack() { return {{.name = "dim", .required = true}, {.name = "memory_config"}}; }
std::vector<Param> of_triangle() { return {{.name = "diagonal"}, {.name = "memory_config"}}; }
std::vector<Param> of_chw() { return {{.name = "dtype", .era1 = 1}, {.name = "memory_config"}}; }
std::vector<Param> of_view() { return {{.name = "shape", .required = true}}; }
std::vector<Param> of_other_view() { return {{.name = "shape", .required = true, .place = 1}}; }

constexpr std::array kRows{
    Placing{"ttnn.chunk", "input_tensor", of_chunk, infer_parts, from_parts},
    Placing{"ttnn.expand", "input_tensor", of_expand, infer_expand, from_expand},
    Placing{"ttnn.experimental.broadcast_to", "input", of_expand, infer_expand, from_expand},
    Placing{"ttnn.experimental.convert_to_chw", "input", of_chw, infer_to_chw, from_to_chw},
    Placing{"ttnn.experimental.view", "input_tensor", of_other_view, infer_view, nullptr},
    Placing{"ttnn.move", "input_tensor", nothing, infer_same, from_same},
    Placing{"ttnn.reallocate", "tensor", nothing, infer_same, from_same},
    Placing{"ttnn.repeat_interleave", "input_tensor", of_repeat_interleave, infer_repeat_interleave,
            from_repeat_interleave},
    Placing{"ttnn.roll", "input_tensor", of_roll, infer_roll, from_roll},
    Placing{"ttnn.split", "input_tensor", of_split, infer_parts, from_parts},
    Placing{"ttnn.stack", "input_tensors", of_stack, infer_stack, nullptr},
    Placing{"ttnn.tril", "input_tensor", of_triangle, infer_triangle, from_triangle<true>},
    Placing{"ttnn.triu", "input_tensor", of_triangle, infer_triangle, from_triangle<false>},
    Placing{"ttnn.view", "input_tensor", of_view, infer_view, nullptr},
};

Outputs infer(const Placing& row, const BoundCall& call, const Board& board) {
  const auto items = call.tensor_list(row.input);
  if (items.empty()) return type_error(call.op, row.input, call.find(row.input) ? *call.find(row.input) : Value());
  return row.infer(*items.front(), call, board);
}

// Of tensors that are stacked: the one of the index along the new dimension, and its row.
Checked<Exact> stacked(const ReferenceJob& job) {
  const Shape& to = job.outputs[0].spec.shape;
  const std::size_t dim = dim_of(job.call, to.size(), 0);
  return rows_of(job, [&](const Shape& index, std::vector<double>& out) {
    for (std::int64_t c = 0; c < to.back(); ++c) {
      Shape whole = index;
      whole.push_back(c);
      const auto item = static_cast<std::size_t>(whole[dim]);
      whole.erase(whole.begin() + static_cast<std::ptrdiff_t>(dim));
      const HostTensor& tensor = job.inputs[item];
      out.push_back(tensor.at(place_of(tensor.spec.shape, whole)));
    }
  });
}

Checked<Exact> reference(const Placing& row, const ReferenceJob& job) {
  if (row.infer == infer_stack) return stacked(job);
  const HostTensor& input = job.inputs[0];
  if (row.from == nullptr) return same_elements(job, input);
  const Shape& to = job.outputs[job.output].spec.shape;
  const Asked asked{job.call, input.spec.shape, to, job.output};
  return rows_of(job, [&](const Shape& index, std::vector<double>& out) {
    Shape whole = index;
    if (!to.empty()) whole.push_back(0);
    for (std::int64_t c = 0; c < row_length(to); ++c) {
      if (!to.empty()) whole.back() = c;
      const std::int64_t at = row.from(asked, whole);
      out.push_back(at == kNothing ? 0.0 : input.at(at));
    }
  });
}

std::vector<Param> params(const Placing& row) {
  std::vector<Param> out{{.name = row.input, .era1 = 0, .required = true, .role = Role::kPlain}};
  for (const Param& param : row.more()) out.push_back(param);
  return out;
}

// OpSpec holds plain functions, so the row is known to the compiler.
template <std::size_t At>
OpSpec spec() {
  return {.name = kRows[At].name,
          .params = params(kRows[At]),
          .infer = [](const BoundCall& call, const Board& board) { return infer(kRows[At], call, board); },
          .reference = [](const ReferenceJob& job) { return reference(kRows[At], job); },
          .budget = exact_budget};
}

}  // namespace

std::span<const OpSpec> placing_ops() {
  static const auto list = []<std::size_t... At>(std::index_sequence<At...>) {
    return std::array{spec<At>()...};
  }(std::make_index_sequence<kRows.size()>());
  return list;
}

}  // namespace opwright
