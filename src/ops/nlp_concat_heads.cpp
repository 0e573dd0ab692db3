// ttnn.experimental.nlp_concat_heads: [b, heads, s, d] -> [b, 1, s, heads x d].
#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shared/attention_rules.h"
#include "ops/shared/matmul_rules.h"
#include "ops/shared/movement.h"

namespace opwright {
namespace {

Checked<void> check(const TensorSpec& input, const MemoryConfig& out) {
  const DType dtype = input.dtype.value;
  OPWRIGHT_REQUIRE(dtype == DType::kFloat32 || dtype == DType::kBfloat16 || dtype == DType::kBfloat8B,
                   "Unsupported data format");
  OPWRIGHT_REQUIRE(tiled(input), "Input tensor layout must be TILE but got {}", tensor_layout_text(input));
  const Shape shape = padded_shape(input);
  if (!sharded(input)) {
    OPWRIGHT_REQUIRE(!out.sharded(), "Output memory config layout must be INTERLEAVED but got {}", layout_text(out));
    return {};
  }
  OPWRIGHT_REQUIRE(memory_layout(input) != MemoryLayout::kWidthSharded,
                   "Input tensor memory layout must not be WIDTH_SHARDED but got {}", layout_text(*input.memory));
  const ShardSpec* shard = shard_of(input);
  if (shard == nullptr || shard->shape.size() != 2) return refuse("bad optional access");
  const std::int64_t width = from_end(shape, 1);
  const std::int64_t height = from_end(shape, 2);
  OPWRIGHT_REQUIRE(shard->shape[1] == width, "Input tensor shard width ({}) must equal padded width ({})",
                   shard->shape[1], width);
  OPWRIGHT_REQUIRE(height > 0 && shard->shape[0] % height == 0,
                   "Input tensor shard height ({}) must be divisible by padded height ({})", shard->shape[0], height);
  OPWRIGHT_REQUIRE(shape[1] % (shard->shape[0] / height) == 0,
                   "Input tensor padded height ({}) must be divisible by shard height / padded height ({} / {})",
                   shape[1], shard->shape[0], height);
  OPWRIGHT_REQUIRE(out.sharded(), "Sharded input requires a sharded output memory config but got {}", layout_text(out));
  OPWRIGHT_REQUIRE(out.layout.value != MemoryLayout::kHeightSharded,
                   "Output memory config layout must not be HEIGHT_SHARDED but got {}", layout_text(out));
  return {};
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* const input, device_tensor(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* const asked, memory_argument(call, "memory_config"));
  MemoryConfig out = asked != nullptr ? *asked : memory_of(*input);
  const Shape& shape = input->shape;
  OPWRIGHT_CHECK(require_rank(shape, 4));
  OPWRIGHT_REQUIRE(shape.size() == 4, "nlp_concat_heads takes a tensor of rank 4, got {}", shape_text(shape));
  OPWRIGHT_CHECK(require_pages(*input));
  if (out.sharded()) {
    const ShardSpec* shard = shard_of(*input);
    const std::int64_t height = from_end(padded_shape(*input), 2);
    if (shard == nullptr || shard->shape.size() != 2) return refuse("bad optional access");
    const std::int64_t heads = height == 0 ? 0 : shard->shape[0] / height;
    OPWRIGHT_REQUIRE(heads > 0, "Input tensor shard height ({}) must be divisible by padded height ({})",
                     shard->shape[0], height);
    ShardSpec wide = *shard;
    wide.shape = {shard->shape[0] / heads, shard->shape[1] * heads};
    out = with_shard(out, std::move(wide));
  }
  TensorSpec output = moved(*input, {shape[0], 1, shape[2], shape[1] * shape[3]}, out);
  output.layout.value = Layout::kTile;
  OPWRIGHT_CHECK_ASSIGN(auto outputs, made(std::move(output), board));
  OPWRIGHT_CHECK(check(*input, out));
  return outputs;
}

Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  const Shape& shape = input.spec.shape;
  const std::int64_t dim = shape[3];
  Exact exact;
  exact.value.reserve(static_cast<std::size_t>(job.rows.count() * job.rows.length));
  for (std::int64_t r = 0; r < job.rows.count(); ++r) {
    const std::int64_t row = job.rows.at(r);
    for (std::int64_t i = 0; i < job.rows.length; ++i) {
      const std::int64_t head = row / shape[2] * shape[1] + i / dim;
      exact.value.push_back(input.at((head * shape[2] + row % shape[2]) * dim + i % dim));
    }
  }
  return exact;
}

}  // namespace

const OpSpec& nlp_concat_heads_op() {
  static const OpSpec spec{.name = "ttnn.experimental.nlp_concat_heads",
                           .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "memory_config", .era1 = 1}},
                           .infer = infer,
                           .reference = reference,
                           .budget = exact_budget};
  return spec;
}

}  // namespace opwright
