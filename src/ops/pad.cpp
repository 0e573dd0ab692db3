#include <fmt/format.h>

#include <algorithm>

#include "ops/op.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"
#include "ops/shared/movement_shards.h"

namespace opwright {
namespace {

constexpr std::int64_t kTile = 32;

struct Side {
  std::int64_t before = 0;
  std::int64_t after = 0;
  bool none() const { return before == 0 && after == 0; }
};

// Two forms: (x, padding, value) and (x, output shape, start, value). The table speaks of the first; a flat list in the
// place of the padding is the second. In Python what follows is given by name, and `value` may be, too: so positions
// there have no name of their own. In C++ the third is the value or the start, the fourth whether to use several cores
// or the value.
constexpr std::string_view kThird = "third position";
constexpr std::string_view kFourth = "fourth position";

bool is_list(const Value* value) { return value != nullptr && value->as_list() != nullptr; }

// Gives what stands at `position` its name; what has both is an error of the caller.
Checked<void> name_position(BoundCall& call, std::string_view position, std::string_view name) {
  const Value* value = call.find(position);
  if (value == nullptr) return {};
  if (call.passed(name))
    return refuse(fmt::format("{}() got multiple values for argument '{}'", call.op, name), std::string(name));
  call.set(name, Value(*value));
  call.erase(position);
  return {};
}

Checked<void> rebind(BoundCall& call) {
  const bool is_cpp = call.convention == Convention::kCpp;
  const Value* padding = call.find("padding");
  const List* list = padding == nullptr ? nullptr : padding->as_list();
  const bool second_form =
      call.passed("output_padded_shape") || (list != nullptr && !list->empty() && list->front().as_int() != nullptr);
  if (!second_form) {
    if (call.passed(kFourth)) return type_error(call.op, "value", *call.find(kFourth));
    return name_position(call, kThird, "value");
  }
  if (!call.passed("output_padded_shape")) call.set("output_padded_shape", Value(*padding));
  call.erase("padding");
  if (is_cpp && is_list(call.find("value"))) {
    OPWRIGHT_CHECK(name_position(call, "value", "input_tensor_start"));
    OPWRIGHT_CHECK(name_position(call, "use_multicore", "value"));
    // Positions beyond are one further on, too.
    const Value memory = call.find("sub_core_grids") == nullptr ? Value() : *call.find("sub_core_grids");
    if (const Value* multicore = call.find("memory_config")) call.set("use_multicore", Value(*multicore));
    call.erase("sub_core_grids");
    call.set("memory_config", memory);
  }
  OPWRIGHT_CHECK(name_position(call, kThird, is_list(call.find(kThird)) ? "input_tensor_start" : "value"));
  return name_position(call, kFourth, "value");
}

Checked<std::vector<Side>> read_pairs(const BoundCall& call) {
  const Value* padding = call.find("padding");
  const List* list = padding == nullptr ? nullptr : padding->as_list();
  if (list == nullptr) return type_error(call.op, "padding", padding == nullptr ? Value() : *padding);
  std::vector<Side> sides;
  for (const Value& item : *list) {
    const List* pair = item.as_list();
    if (pair == nullptr || pair->size() != 2 || pair->at(0).as_int() == nullptr || pair->at(1).as_int() == nullptr)
      return type_error(call.op, "padding", *padding);
    const Side side{*pair->at(0).as_int(), *pair->at(1).as_int()};
    if (side.before < 0 || side.after < 0) return type_error(call.op, "padding", *padding);
    sides.push_back(side);
  }
  return sides;
}

Checked<std::vector<Side>> read_padding(const BoundCall& call, const Shape& shape) {
  const std::size_t rank = shape.size();
  std::vector<Side> sides;
  if (call.passed("output_padded_shape")) {
    OPWRIGHT_CHECK_ASSIGN(const Shape target, sizes_argument(call, "output_padded_shape"));
    OPWRIGHT_CHECK_ASSIGN(const Shape start, sizes_argument(call, "input_tensor_start"));
    if (target.size() != 4 || start.size() != 4)
      return type_error(call.op, "output_padded_shape", *call.find("output_padded_shape"));
    OPWRIGHT_REQUIRE(rank == 4, "ShapeBase[] index out of range. {} not in [-4, {})", rank, rank);
    for (std::size_t i = 0; i < rank; ++i) {
      OPWRIGHT_REQUIRE(shape[i] + start[i] <= target[i], "Output size cannot fit input with offset");
      sides.push_back({start[i], target[i] - shape[i] - start[i]});
    }
    return sides;
  }
  OPWRIGHT_CHECK_ASSIGN(sides, read_pairs(call));
  OPWRIGHT_REQUIRE(sides.size() <= rank, "ttnn.pad: padding len can't be larger than input tensor rank");
  sides.insert(sides.begin(), rank - sides.size(), Side{});
  return sides;
}

Shape grown(const Shape& shape, const std::vector<Side>& sides) {
  Shape out = shape;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] += sides[i].before + sides[i].after;
  return out;
}

// On the host the tensor keeps its shape: what is added is padding around it.
Checked<std::vector<OutputSpec>> pad_on_host(const TensorSpec& input, const std::vector<Side>& sides) {
  OutputSpec out = output_spec(input);
  const std::size_t rank = sides.size();
  if (rank > 4) {
    for (std::size_t i = 0; i + 3 < rank; ++i)
      OPWRIGHT_REQUIRE(sides[i].after == 0,
                       "ttnn::pad only supports padding on the lowest 3 dimensions for host tensors with rank > 4");
    out.spec.shape = grown(input.shape, sides);
    out.padded = padded_shape(out.spec);
  } else if (!tiled(input)) {
    if (std::ranges::any_of(sides, [](const Side& side) { return side.before != 0; }))
      return unsupported("input_tensor_start", "front padding of a host tensor");
    out.padded = grown(input.shape, sides);
  }
  return std::vector{std::move(out)};
}

Checked<void> require_rows(const TensorSpec& input, const MemoryConfig& memory, const Board& board) {
  const DType dtype = input.dtype.value;
  OPWRIGHT_REQUIRE(dtype != DType::kUint8, "Cannot pad RM tensor with specified format");
  for (const bool output : {false, true}) {
    const MemoryConfig& place = output ? memory : memory_of(input);
    if (!place.sharded() || !place.shard || place.shard->shape.size() != 2) continue;
    const std::int64_t bytes = place.shard->shape[1] * element_bytes(dtype);
    OPWRIGHT_REQUIRE(bytes % board.l1_alignment == 0,
                     "{} row-major shard width {} gives page size {} bytes, which must be aligned to {} bytes",
                     output ? "Output" : "Input", place.shard->shape[1], bytes, board.l1_alignment);
  }
  return {};
}

Checked<void> require_tiles(const TensorSpec& input, const std::vector<Side>& sides, const Shape& shape) {
  const DType dtype = input.dtype.value;
  OPWRIGHT_REQUIRE(std::ranges::all_of(sides, [](const Side& side) { return side.before == 0; }),
                   "ttnn.pad: on device tile padding does not support front padding");
  const bool partial = last(input.shape) % kTile != 0 || last(input.shape, 2) % kTile != 0;
  OPWRIGHT_REQUIRE(dtype != DType::kUint8 || !partial, "Unsupported datatype DataType::UINT8");
  OPWRIGHT_REQUIRE(!partial || !sharded(input) || volume(input.shape) == last(input.shape) * last(input.shape, 2),
                   "FillPadL1ShardedProgramFactory: N_slices > 1 not yet supported (got {})",
                   last(input.shape) * last(input.shape, 2) == 0
                       ? 0
                       : volume(input.shape) / (last(input.shape) * last(input.shape, 2)));
  const bool more_tiles = padded_shape(shape, Layout::kTile) != padded_shape(input);
  OPWRIGHT_REQUIRE(!more_tiles || (dtype != DType::kBfloat4B && dtype != DType::kUint8),
                   "Cannot pad tilized tensor with specified format");
  return {};
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const std::vector<Side> sides, read_padding(call, input->shape));
  if (!call.passed("value")) return type_error(call.op, "value", Value());
  OPWRIGHT_CHECK_ASSIGN([[maybe_unused]] const double value, number_argument(call, "value", 0));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  if (std::ranges::all_of(sides, [](const Side& side) { return side.none(); }))
    return given_back(*input, "input_tensor");
  if (on_host(*input)) return pad_on_host(*input, sides);
  OPWRIGHT_CHECK(require_on_device(*input));
  Shape shape = grown(input->shape, sides);
  for (const std::int64_t n : shape)
    if (n > 0xFFFFFFFFLL) return refuse_memory("a padded dimension does not fit into any device");
  const MemoryConfig own = memory_of(*input);
  MemoryConfig memory = asked == nullptr ? own : *asked;
  const bool wider = last(shape) != last(input->shape);
  if (own.layout.value == MemoryLayout::kHeightSharded && own.shard && memory.sharded() && wider && !tiled(*input) &&
      (asked == nullptr || flat_height(shape) == flat_height(input->shape)))
    memory = height_sharded(shape, own.shard->grid, BufferType::kL1);
  if (tiled(*input))
    OPWRIGHT_CHECK(require_tiles(*input, sides, shape));
  else
    OPWRIGHT_CHECK(require_rows(*input, memory, board));
  return made(moved(*input, std::move(shape), std::move(memory)), board);
}

Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  const Shape& shape = input.spec.shape;
  if (job.outputs[job.output].spec.shape == shape) return same_elements(job, input);
  OPWRIGHT_CHECK_ASSIGN(const std::vector<Side> sides, read_padding(job.call, shape));
  OPWRIGHT_CHECK_ASSIGN(const double value, number_argument(job.call, "value", 0));
  const double held =
      is_integer(input.spec.dtype.value) ? converted(value, DType::kFloat32, input.spec.dtype.value) : value;
  const Shape strides = strides_of(shape);
  return rows_of(job, [&](const Shape& index, std::vector<double>& out) {
    std::int64_t start = 0;
    bool inside = true;
    for (std::size_t i = 0; i < index.size(); ++i) {
      const std::int64_t at = index[i] - sides[i].before;
      inside = inside && at >= 0 && at < shape[i];
      start += at * strides[i];
    }
    if (!inside) {
      out.insert(out.end(), static_cast<std::size_t>(job.rows.length), held);
      return;
    }
    out.insert(out.end(), static_cast<std::size_t>(sides.back().before), held);
    append_elements(input, start, shape.back(), 1, out);
    out.insert(out.end(), static_cast<std::size_t>(sides.back().after), held);
  });
}

}  // namespace

const OpSpec& pad_op() {
  static const OpSpec spec{.name = "ttnn.pad",
                           .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "padding", .era1 = 1, .place = 1},
                                      {.name = kThird, .place = 2},
                                      {.name = kFourth, .place = 3},
                                      {.name = "value", .era1 = 2},
                                      {.name = "use_multicore", .era1 = 3},
                                      {.name = "memory_config", .era1 = 4},
                                      {.name = "sub_core_grids", .era1 = 5, .lost = Lost::kNoMatter},
                                      {.name = "output_padded_shape"},
                                      {.name = "input_tensor_start"}},
                           .rebind = rebind,
                           .infer = infer,
                           .reference = reference,
                           .budget = exact_budget};
  return spec;
}

}  // namespace opwright
