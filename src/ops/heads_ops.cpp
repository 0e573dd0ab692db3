// Query, key and value heads cut out of one tensor, and put together again: operators of the transformer family that
// are a row each. nlp_create_qkv_heads and its decode form, with more rules, have files of their own.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "ops/families.h"
#include "ops/shared/attention_rules.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"
#include "ops/shared/movement_shards.h"

namespace opwright {
namespace {

// How a row of the input holds its heads.
enum class Order : std::uint8_t {
  kKinds,   // all queries, all keys, all values
  kGroups,  // for each key: its queries, itself, its value
  kWhole,   // queries alone
};

struct Cutting {
  std::string_view name;
  std::string_view input = "input";
  std::size_t rank = 4;
  std::int64_t heads = 0;  // of queries, where the operator knows no other number; -1: as many as there are tiles
  std::int64_t kv_heads = 0;
  std::string_view transposed = {};  // the flag that turns keys, true where it is not given; "": they never are
  bool always_turned = false;
  Order order = Order::kKinds;
};

constexpr std::array kCuttings{
    Cutting{.name = "ttnn.experimental.create_qkv_heads", .transposed = "transpose_k_heads", .order = Order::kGroups},
    Cutting{.name = "ttnn.experimental.nlp_create_qkv_heads_falcon7b", .heads = 71, .kv_heads = 1},
    Cutting{.name = "ttnn.experimental.nlp_create_qkv_heads_segformer", .heads = -1, .order = Order::kWhole},
    Cutting{.name = "ttnn.experimental.nlp_create_qkv_heads_vit", .heads = 12, .kv_heads = 12},
    Cutting{.name = "ttnn.experimental.split_query_key_value_and_split_heads",
            .input = "input_tensor",
            .always_turned = true},
    Cutting{.name = "ttnn.transformer.split_query_key_value_and_split_heads",
            .input = "input_tensor",
            .rank = 3,
            .transposed = "transpose_key"},
};

struct Heads {
  std::int64_t batch = 0, sequence = 0, dim = 0, queries = 0, keys = 0;
  bool turned = false;
  Order order = Order::kKinds;
};

constexpr std::int64_t kTile = 32;

Checked<Heads> heads_of(const Cutting& row, const BoundCall& call, const TensorSpec& input) {
  Heads out;
  OPWRIGHT_REQUIRE(input.shape.size() == row.rank, "Invalid input tensor: expected {} dimensions, but found {}.",
                   row.rank, input.shape.size());
  OPWRIGHT_REQUIRE(row.heads <= 0 || input.shape[1] == 1, "Unsupported input shape");
  out.batch = input.shape[0];
  out.sequence = input.shape[row.rank - 2];
  const std::int64_t width = input.shape.back();
  out.order = row.order;
  if (row.heads != 0) {
    out.queries = row.heads > 0 ? row.heads : width / kTile;
    out.keys = row.kv_heads;
  } else {
    OPWRIGHT_CHECK_ASSIGN(out.queries, call.integer("num_heads", 16));
    OPWRIGHT_CHECK_ASSIGN(out.keys, call.integer("num_kv_heads", out.queries));
    OPWRIGHT_REQUIRE(out.queries > 0 && out.keys > 0, "num_heads must be greater than 0");
  }
  if (row.transposed.empty()) {
    out.turned = row.always_turned;
  } else {
    OPWRIGHT_CHECK_ASSIGN(out.turned, call.flag(row.transposed, true));
  }
  // Sharded rows are those of create_qkv_heads, which the library calls then.
  if (row.name == "ttnn.transformer.split_query_key_value_and_split_heads" && sharded(input))
    out.order = Order::kGroups;
  const std::int64_t all = out.queries + (out.order == Order::kWhole ? 0 : 2 * out.keys);
  out.dim = all == 0 ? 0 : width / all;
  OPWRIGHT_REQUIRE(out.dim > 0, "{} heads do not fit in the hidden dimension ({})", all, width);
  OPWRIGHT_REQUIRE(out.dim % kTile == 0,
                   "Invalid head size: {}. The head size must be a multiple of the tile width ({}). Please adjust the "
                   "dimensions accordingly.",
                   out.dim, kTile);
  const std::int64_t padded = padded_shape(input).back() / all;
  OPWRIGHT_REQUIRE(padded == out.dim,
                   "Padding error: Head size {} should not include additional tile padding, but padded head size was "
                   "found to be {}. Ensure that no extra padding is applied.",
                   out.dim, padded);
  return out;
}

Shape head_shape(const Heads& heads, std::size_t output) {
  const std::int64_t count = output == 0 ? heads.queries : heads.keys;
  if (output == 1 && heads.turned) return {heads.batch, count, heads.dim, heads.sequence};
  return {heads.batch, count, heads.sequence, heads.dim};
}

// Sharded heads lie on the cores of the input, as many rows on each.
MemoryConfig head_memory(const TensorSpec& input, const MemoryConfig& asked, const Shape& shape) {
  const MemoryConfig own = memory_of(input);
  if (!asked.sharded() || asked.shard || !own.shard) return asked;
  const Shape padded = padded_shape(shape, Layout::kTile);
  ShardSpec shard = *own.shard;
  shard.shape = {padded[0] * padded[1] * padded[2] / core_count(own.shard->grid), padded[3]};
  return with_shard(asked, std::move(shard));
}

Checked<std::vector<OutputSpec>> infer_cutting(const Cutting& row, const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* const input, device_tensor(call, row.input));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* const asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK(refuse_unknown(call, {"kv_input_tensor", "output_tensors", "use_falcon7b_backend"}));
  OPWRIGHT_CHECK_ASSIGN(const Heads heads, heads_of(row, call, *input));
  OPWRIGHT_REQUIRE(tiled(*input), "Invalid layout: input tensor must use TILE_LAYOUT, but found 0.");
  const DType dtype = input->dtype.value;
  OPWRIGHT_REQUIRE(dtype == DType::kFloat32 || dtype == DType::kBfloat16 || dtype == DType::kBfloat8B,
                   "Unsupported data format");
  if (row.always_turned) {
    OPWRIGHT_REQUIRE(heads.batch >= 7 && heads.batch <= 9,
                     "Input batch size must be between 7 to 9 for bert large TM ops!");
    OPWRIGHT_REQUIRE(dtype != DType::kFloat32, "Unsupported data format");
  }
  if (row.always_turned && sharded(*input))
    return unsupported(std::string(row.input), "sharded rows of fused heads, whose order nobody here has seen");
  if (heads.order == Order::kGroups && !sharded(*input))
    return refuse("Input tensor must be sharded", std::string(row.input));
  std::vector<OutputSpec> out;
  for (std::size_t o = 0; o < 3; ++o) {
    // Of queries alone there are three results too …
    const Shape shape = head_shape(heads, heads.order == Order::kWhole ? 0 : o);
    const MemoryConfig memory = head_memory(*input, asked == nullptr ? memory_of(*input) : *asked, shape);
    OPWRIGHT_CHECK(add_output(out, moved(*input, shape, memory), board));
    // … of which the kernel writes the first alone.
    if (heads.order == Order::kWhole && o > 0) out.back().spec.more.emplace_back("own_form", Value(true));
  }
  return out;
}

Checked<Exact> cut(const Cutting& row, const ReferenceJob& job) {
  const HostTensor& input = job.inputs[0];
  OPWRIGHT_CHECK_ASSIGN(const Heads heads, heads_of(row, job.call, input.spec));
  const std::int64_t width = input.spec.shape.back();
  const bool turned = job.output == 1 && heads.turned;
  const std::int64_t group = heads.keys == 0 ? 1 : heads.queries / heads.keys;
  const auto first_column = [&](std::int64_t head) {
    if (heads.order != Order::kGroups) {
      const std::int64_t before = job.output == 0 ? 0 : heads.queries + (job.output == 2 ? heads.keys : 0);
      return (before + head) * heads.dim;
    }
    const std::int64_t of = job.output == 0 ? head / group : head;
    const std::int64_t inside = job.output == 0 ? head % group : group + (job.output == 2 ? 1 : 0);
    return (of * (group + 2) + inside) * heads.dim;
  };
  return rows_of(job, [&](const Shape& index, std::vector<double>& out) {
    const std::int64_t column = first_column(index[1]);
    const std::int64_t start = index[0] * heads.sequence * width;
    if (turned)
      append_elements(input, start + column + index[2], heads.sequence, width, out);
    else
      append_elements(input, start + index[2] * width + column, heads.dim, 1, out);
  });
}

std::vector<Param> cutting_params(const Cutting& row) {
  std::vector<Param> out{{.name = row.input, .era1 = 0, .required = true, .role = Role::kPlain}};
  if (row.rank == 3) {  // positions of old traces: 1 key and value, 2 and 3 heads, 4 turned, 5 memory
    out.push_back({.name = "kv_input_tensor", .era1 = 1, .role = Role::kPlain});
    out.push_back({.name = "num_heads", .era1 = 2, .required = true});
    out.push_back({.name = "num_kv_heads", .era1 = 3});
    out.push_back({.name = row.transposed, .era1 = 4});
    out.push_back({.name = "memory_config", .era1 = 5});
    out.push_back({.name = "use_falcon7b_backend"});
    return out;
  }
  int next = 1;
  if (row.always_turned) {
    out.push_back({.name = "compute_with_storage_grid_size", .era1 = 1, .lost = Lost::kNoMatter});
    out.push_back({.name = "memory_config", .era1 = 2});
    out.push_back({.name = "num_heads", .era1 = 3});
    next = 4;
  } else {
    if (row.heads == 0) {
      out.push_back({.name = "num_heads", .era1 = 1, .required = true});
      out.push_back({.name = "num_kv_heads", .era1 = 2});
      out.push_back({.name = row.transposed, .era1 = 3});
      next = 4;
    }
    out.push_back({.name = "memory_config", .era1 = next++});
  }
  out.push_back({.name = "output_tensors", .era1 = next, .lost = Lost::kAssumeNone, .role = Role::kBuffer});
  return out;
}

// [b, heads, s, d] -> [b, s, heads x d]
Checked<std::vector<OutputSpec>> infer_concatenate(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* const input, device_tensor(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* const asked, memory_argument(call, "memory_config"));
  const Shape& shape = input->shape;
  OPWRIGHT_REQUIRE(shape.size() == 4, "Input tensor must have rank 4. Shape: {}", shape_text(shape));
  OPWRIGHT_REQUIRE(
      shape[3] % kTile == 0,
      "Head size must be a multiple of {} but was found to be {}. Update the matmul that uses the output of "
      "this operation to include padding",
      kTile, shape[3]);
  MemoryConfig memory = asked != nullptr ? *asked : memory_of(*input);
  const Shape out{shape[0], shape[2], shape[1] * shape[3]};
  if (memory.sharded()) {
    const MemoryConfig own = memory_of(*input);
    if (!own.shard || own.shard->grid.size() != 1) return refuse("bad optional access");
    const CoreRange& grid = own.shard->grid[0];
    const Shape padded = padded_shape(out, Layout::kTile);
    ShardSpec shard = *own.shard;
    if (memory.layout.value == MemoryLayout::kBlockSharded)
      shard.shape = {padded[0] * padded[1] / (grid.end.y - grid.start.y + 1),
                     padded[2] / (grid.end.x - grid.start.x + 1)};
    memory = with_shard(memory, std::move(shard));
  }
  OPWRIGHT_CHECK_ASSIGN(auto outputs, made(moved(*input, out, std::move(memory)), board));
  OPWRIGHT_REQUIRE(tiled(*input), "Input tensor layout must be TILE but got Layout::ROW_MAJOR");
  const DType dtype = input->dtype.value;
  OPWRIGHT_REQUIRE(dtype == DType::kFloat32 || dtype == DType::kBfloat16 || dtype == DType::kBfloat8B,
                   "Unsupported data format");
  OPWRIGHT_REQUIRE(shape[1] > 0 && shape[3] > 0,
                   "DataflowBufferSpec 'in0' has num_entries = 0. num_entries must be set to a non-zero value.");
  return outputs;
}

Checked<Exact> concatenate(const ReferenceJob& job) {
  const HostTensor& input = job.inputs[0];
  const Shape& shape = input.spec.shape;
  return rows_of(job, [&](const Shape& index, std::vector<double>& out) {
    for (std::int64_t head = 0; head < shape[1]; ++head)
      append_elements(input, ((index[0] * shape[1] + head) * shape[2] + index[1]) * shape[3], shape[3], 1, out);
  });
}

// OpSpec holds plain functions, so the row is known to the compiler.
template <std::size_t At>
OpSpec spec() {
  return {.name = kCuttings[At].name,
          .params = cutting_params(kCuttings[At]),
          .infer = [](const BoundCall& call, const Board& board) { return infer_cutting(kCuttings[At], call, board); },
          .reference = [](const ReferenceJob& job) { return cut(kCuttings[At], job); },
          .budget = exact_budget};
}

}  // namespace

std::span<const OpSpec> heads_ops() {
  static const auto list = []<std::size_t... At>(std::index_sequence<At...>) {
    return std::array{spec<At>()...,
                      OpSpec{.name = "ttnn.transformer.concatenate_heads",
                             .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                        {.name = "memory_config", .era1 = 1}},
                             .infer = infer_concatenate,
                             .reference = concatenate,
                             .budget = exact_budget}};
  }(std::make_index_sequence<kCuttings.size()>());
  return list;
}

}  // namespace opwright
