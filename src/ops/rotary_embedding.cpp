// ttnn.experimental.rotary_embedding: rows turned by the angles of their position, or all by those of one token.
#include <fmt/format.h>

#include "dialect/ttnn/matmul_program.h"
#include "ops/op.h"
#include "ops/shared/attention_rules.h"
#include "ops/shared/matmul_rules.h"
#include "ops/shared/movement.h"
#include "ops/shared/rotary.h"

namespace opwright {
namespace {

constexpr std::int64_t kTile = 32;

// Row-major tensors are tilized on the way in, so tiles are what counts.
Shape tiled_shape(const TensorSpec& spec) { return padded_shape(spec.shape, Layout::kTile); }

Checked<void> check_memory(const TensorSpec& input, const MemoryConfig& out) {
  if (out.sharded())
    OPWRIGHT_REQUIRE(out.layout.value != MemoryLayout::kWidthSharded,
                     "Output memory config layout must not be WIDTH_SHARDED but got {}", layout_text(out));
  if (!sharded(input)) return {};
  OPWRIGHT_REQUIRE(memory_layout(input) != MemoryLayout::kWidthSharded,
                   "Input tensor memory layout must not be WIDTH_SHARDED but got {}", layout_text(memory_of(input)));
  const ShardSpec* shard = shard_of(input);
  if (shard == nullptr || shard->shape.size() != 2 || shard->shape[0] < 1) return refuse("bad optional access");
  const std::int64_t width = from_end(tiled_shape(input), 1);
  OPWRIGHT_REQUIRE(shard->shape[1] == width, "Input tensor shard width ({}) must equal padded width ({})",
                   shard->shape[1], width);
  OPWRIGHT_REQUIRE(physical_shape(input).height % shard->shape[0] == 0, "Error");
  return {};
}

// The shards of an output that is asked for without saying how: the input's, or as many cores as divide the rows.
Checked<ShardSpec> output_shards(const TensorSpec& input, const Board& board) {
  if (sharded(input) && shard_of(input) != nullptr) return *shard_of(input);
  const Shape shape = tiled_shape(input);
  std::int64_t blocks = 1;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) blocks *= shape[i];
  blocks /= kTile;
  OPWRIGHT_REQUIRE(blocks > 0, "a tensor of {} has no rows to shard", shape_text(input.shape));
  std::int64_t cores = board.cores();
  while (cores > 1 && blocks % cores != 0) --cores;
  return ShardSpec{.grid = first_cores(cores, board.grid, true),
                   .shape = {div_up(blocks, cores) * kTile, shape.back()},
                   .orientation = {.value = Orientation::kRowMajor},
                   .distribution = {},
                   .more = {}};
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* const input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_REQUIRE(!on_host(*input), "Input tensor must be on device");
  OPWRIGHT_CHECK(require_on_device(*input));
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* const cos, device_tensor(call, "cos_cache"));
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* const sin, device_tensor(call, "sin_cache"));
  OPWRIGHT_CHECK_ASSIGN(const auto token, unsigned_argument(call, "token_index"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* const asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK(compute_argument(call, {}));
  Shape shape = tiled_shape(*input);
  const Shape angles = tiled_shape(*cos);
  const std::int64_t width = from_end(shape, 1);
  OPWRIGHT_REQUIRE(
      width == kTile || width % (2 * kTile) == 0,
      "Input X dimension ({}) must be either {} (single tile) or divisible by {} (rotate_half midpoint must "
      "align with a tile boundary).",
      width, kTile, 2 * kTile);
  OPWRIGHT_REQUIRE(cos->shape == sin->shape,
                   "Cosine and Sine cache dimensions must match. Cos cache dimensions: {}, Sin cache dimensions: {}.",
                   shape_text(cos->shape), shape_text(sin->shape));
  OPWRIGHT_CHECK(require_rank(angles, 2));
  OPWRIGHT_REQUIRE(angles[0] == 1 && angles[1] == 1 && from_end(angles, 1) == width,
                   "Cosine cache dimensions must match input dimensions. Expected (1, 1, {}), but got {}.", width,
                   shape_text(angles));
  const std::int64_t known = from_end(cos->shape, 2);
  if (token) {
    OPWRIGHT_REQUIRE(shape[0] == 1,
                     "When token index is provided, sequence length must be 1. Current sequence length: {}.", shape[0]);
    // Before 2026 the token just behind the last one was let through as well.
    OPWRIGHT_REQUIRE(*token < known,
                     "Cosine cache must cover the token index. Token index: {}, Cos cache sequence "
                     "length: {}.",
                     *token, known);
  } else {
    const std::int64_t sequence = from_end(input->shape, 2);
    OPWRIGHT_REQUIRE(known >= sequence,
                     "Cosine cache must cover the input sequence length. Input sequence length: {}, Cos cache sequence "
                     "length: {}.",
                     sequence, known);
  }
  OPWRIGHT_REQUIRE(cos->dtype.value == sin->dtype.value, "Cos and Sin dtypes must match");
  MemoryConfig out = asked != nullptr ? *asked : memory_of(*input);
  if (out.sharded()) {
    OPWRIGHT_CHECK_ASSIGN(ShardSpec shards, output_shards(*input, board));
    out = with_shard(out, std::move(shards));
  }
  TensorSpec output = moved(*input, shape, out);
  output.layout.value = Layout::kTile;
  OPWRIGHT_CHECK_ASSIGN(auto outputs, made(std::move(output), board));
  OPWRIGHT_CHECK(check_memory(*input, out));
  OPWRIGHT_CHECK(require_pages(*input));
  return outputs;
}

Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  const HostTensor& cos = *job.input("cos_cache");
  if (input.integer()) return unsupported("input_tensor", "integers are not turned");
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t token, job.call.integer("token_index", -1));
  const std::int64_t height = from_end(input.spec.shape, 2);
  const std::int64_t padded = round_up(height, kTile);
  Exact exact;
  for (std::int64_t r = 0; r < job.rows.count(); ++r) {
    const std::int64_t s = job.rows.at(r) % padded;
    append_rotary({.x = &input,
                   .x_row = s < height ? job.rows.at(r) / padded * height + s : -1,
                   .cos = &cos,
                   .sin = job.input("sin_cache"),
                   .angle_row = token >= 0                        ? token
                                : s < from_end(cos.spec.shape, 2) ? s
                                                                  : -1},
                  job.rows.length, exact);
  }
  return exact;
}

ErrorBudget budget(const BoundCall&, std::span<const OutputSpec>, std::size_t) { return rotary_budget(); }

bool fill(const BoundCall& call, std::size_t slot, Random&, HostTensor& tensor) {
  const std::string& param = call.tensors[slot].param;
  if ((param != "cos_cache" && param != "sin_cache") || tensor.integer()) return false;
  fill_angles(tensor, param == "sin_cache", false, false);
  return true;
}

}  // namespace

const OpSpec& rotary_embedding_op() {
  static const OpSpec spec{.name = "ttnn.experimental.rotary_embedding",
                           .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "cos_cache", .era1 = 1, .required = true, .role = Role::kCosines},
                                      {.name = "sin_cache", .era1 = 2, .required = true, .role = Role::kSines},
                                      {.name = "token_index", .era1 = 3},
                                      {.name = "memory_config", .era1 = 4},
                                      {.name = "compute_kernel_config", .era1 = 5}},
                           .infer = infer,
                           .reference = reference,
                           .budget = budget,
                           .fill = fill};
  return spec;
}

}  // namespace opwright
