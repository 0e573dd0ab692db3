// ttnn.experimental.nlp_create_qkv_heads: [b, 1, s, (q + 2 kv) x d] -> q [b, q, s, d], k and v [b, kv, s, d].
#include <fmt/format.h>

#include "dialect/ttnn/matmul_program.h"
#include "ops/op.h"
#include "ops/shared/attention_rules.h"
#include "ops/shared/matmul_rules.h"
#include "ops/shared/movement.h"

namespace opwright {
namespace {

struct Heads {
  const TensorSpec* q = nullptr;
  const TensorSpec* kv = nullptr;  // null: keys and values follow the queries in `q`
  std::int64_t q_heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t dim = 0;
  bool transpose_k = true;
  bool tied = false;  // values are the keys
};

Checked<Heads> read(const BoundCall& call) {
  Heads heads;
  OPWRIGHT_CHECK(refuse_none(call, {"num_heads", "transpose_k_heads", "kv_tied"}));
  OPWRIGHT_CHECK_ASSIGN(heads.q, device_tensor(call, "input"));
  OPWRIGHT_CHECK_ASSIGN(heads.kv, optional_device_tensor(call, "input_kv"));
  OPWRIGHT_CHECK_ASSIGN(heads.q_heads, unsigned_argument(call, "num_heads", 0));
  OPWRIGHT_CHECK_ASSIGN(heads.kv_heads, unsigned_argument(call, "num_kv_heads", heads.q_heads));
  OPWRIGHT_CHECK_ASSIGN(heads.transpose_k, call.flag("transpose_k_heads", true));
  OPWRIGHT_CHECK_ASSIGN(heads.tied, call.flag("kv_tied", false));
  OPWRIGHT_REQUIRE(heads.q_heads > 0, "num_q_heads must be greater than 0");
  const Shape q_shape = padded_shape(*heads.q);
  OPWRIGHT_CHECK(require_rank(q_shape, 4));
  const std::int64_t sections = heads.tied ? 1 : 2;
  if (heads.kv != nullptr) {
    const Shape kv_shape = padded_shape(*heads.kv);
    OPWRIGHT_CHECK(require_rank(kv_shape, 4));
    const std::int64_t parts = sections * heads.kv_heads;
    OPWRIGHT_REQUIRE(q_shape[3] % heads.q_heads == 0, "Unsupported input shape");
    OPWRIGHT_REQUIRE(parts > 0 && kv_shape[3] % parts == 0, "Unsupported input shape");
    heads.dim = q_shape[3] / heads.q_heads;
    OPWRIGHT_REQUIRE(kv_shape[3] / parts == heads.dim, "Head dims must be the same for Q and K, V");
  } else {
    const std::int64_t parts = heads.q_heads + sections * heads.kv_heads;
    OPWRIGHT_REQUIRE(q_shape[3] % parts == 0, "Unsupported input shape");
    heads.dim = q_shape[3] / parts;
  }
  return heads;
}

// One tensor, sharded by width: whole heads on each core.
Checked<void> check_sharded(const Heads& heads, const MemoryConfig& out, const Board& board) {
  const ShardSpec* shard = shard_of(*heads.q);
  if (shard == nullptr || shard->shape.size() != 2) return refuse("bad optional access");
  const std::int64_t height = physical_shape(*heads.q).height;
  OPWRIGHT_REQUIRE(shard->shape[0] == height,
                   "Shard spec shape[0] ({}) must equal physical volume / padded shape[-1] ({})", shard->shape[0],
                   height);
  OPWRIGHT_REQUIRE(out.sharded() && out.layout.value != MemoryLayout::kWidthSharded,
                   "Output memory config must be sharded and not WIDTH_SHARDED but got memory_layout: {}",
                   layout_text(out));
  OPWRIGHT_REQUIRE(shard->orientation.value != Orientation::kColMajor,
                   "Input tensor shard orientation must be ROW_MAJOR but got ShardOrientation::COL_MAJOR");
  const std::int64_t cores = board.cores();
  OPWRIGHT_REQUIRE(heads.q_heads <= cores, "Number of Q heads ({}) must be <= number of cores ({})", heads.q_heads,
                   cores);
  OPWRIGHT_REQUIRE(heads.kv_heads <= cores, "Number of KV heads ({}) must be <= number of cores ({})", heads.kv_heads,
                   cores);
  OPWRIGHT_REQUIRE(heads.q_heads >= heads.kv_heads, "Number of Q heads ({}) must be >= number of KV heads ({})",
                   heads.q_heads, heads.kv_heads);
  const std::int64_t used = core_count(shard->grid);
  OPWRIGHT_REQUIRE(used > 0 && heads.q_heads % used == 0,
                   "Number of Q heads ({}) must be divisible by number of cores ({})", heads.q_heads, used);
  OPWRIGHT_REQUIRE(heads.kv_heads > 0, "Number of KV heads ({}) must be > 0", heads.kv_heads);
  if (heads.kv != nullptr) {
    const ShardSpec* kv = shard_of(*heads.kv);
    OPWRIGHT_REQUIRE(kv != nullptr, "Input tensor KV must be sharded");
    OPWRIGHT_REQUIRE(kv->grid == shard->grid, "Input tensor and KV tensor must have the same shard grid");
    const std::int64_t width = heads.q_heads / heads.kv_heads * heads.dim;
    OPWRIGHT_REQUIRE(shard->shape[1] == width,
                     "Shard spec shape[1] ({}) must equal (num_q_heads / num_kv_heads) * head_dim ({})",
                     shard->shape[1], width);
  } else {
    OPWRIGHT_REQUIRE(heads.kv_heads % used == 0, "Number of KV heads ({}) must be divisible by number of cores ({})",
                     heads.kv_heads, used);
    const std::int64_t width = (heads.q_heads / heads.kv_heads + 2) * heads.dim;
    OPWRIGHT_REQUIRE(shard->shape[1] == width,
                     "Shard spec shape[1] ({}) must equal (num_q_heads / num_kv_heads + 2) * head_dim ({})",
                     shard->shape[1], width);
  }
  OPWRIGHT_REQUIRE(!heads.transpose_k, "Transpose K heads must be false");
  return {};
}

Checked<void> check(const Heads& heads, const MemoryConfig& out, const Board& board) {
  const DType dtype = heads.q->dtype.value;
  const Shape shape = padded_shape(*heads.q);
  OPWRIGHT_REQUIRE(dtype == DType::kFloat32 || dtype == DType::kBfloat16 || dtype == DType::kBfloat8B,
                   "Unsupported data format");
  OPWRIGHT_REQUIRE(tiled(*heads.q), "Input tensor layout must be TILE but got {}", tensor_layout_text(*heads.q));
  OPWRIGHT_REQUIRE(shape[2] % 32 == 0, "Unsupported input height {} is not tile aligned", shape[2]);
  OPWRIGHT_REQUIRE(shape[1] == 1, "Unsupported input sequence length {} is not equal to 1", shape[1]);
  if (sharded(*heads.q)) {
    OPWRIGHT_CHECK(check_sharded(heads, out, board));
  } else {
    OPWRIGHT_REQUIRE(!out.sharded(), "Output memory config layout must be INTERLEAVED but got {}", layout_text(out));
  }
  if (heads.kv == nullptr) return {};
  const Shape kv_shape = padded_shape(*heads.kv);
  OPWRIGHT_REQUIRE(heads.kv->dtype.value == dtype, "KV tensor dtype must be same as Q tensor dtype!");
  OPWRIGHT_REQUIRE(tiled(*heads.kv), "Input tensor KV layout must be TILE but got {}", tensor_layout_text(*heads.kv));
  OPWRIGHT_REQUIRE(kv_shape[0] == shape[0], "KV tensor batch dim must be same as Q tensor batch!");
  OPWRIGHT_REQUIRE(kv_shape[1] == 1, "Unsupported input shape {} is not equal to 1", kv_shape[1]);
  OPWRIGHT_REQUIRE(kv_shape[2] == shape[2], "KV tensor seq_len dim must be same as Q tensor seq_len!");
  OPWRIGHT_REQUIRE(!sharded(*heads.kv) || sharded(*heads.q), "Input tensor must be sharded when KV tensor is sharded");
  return {};
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const Heads heads, read(call));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* const asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK(refuse_unknown(call, {"output_tensors"}));
  const MemoryConfig out = asked != nullptr ? *asked : memory_of(*heads.q);
  const Shape& shape = heads.q->shape;
  OPWRIGHT_CHECK(require_rank(shape, 4));
  const std::int64_t dim = round_up(heads.dim, 32);
  const auto memory = [&](std::int64_t count) {
    if (!out.sharded()) return out;
    return with_shard(out, ShardSpec{.grid = first_cores(count, board.grid, true),
                                     .shape = {32, heads.dim},
                                     .orientation = {.value = Orientation::kRowMajor},
                                     .distribution = {},
                                     .more = {}});
  };
  std::vector<OutputSpec> outputs;
  const Shape kv{shape[0], heads.kv_heads, shape[2], dim};
  const Shape k = heads.transpose_k ? Shape{shape[0], heads.kv_heads, dim, shape[2]} : kv;
  OPWRIGHT_CHECK(
      add_output(outputs, moved(*heads.q, {shape[0], heads.q_heads, shape[2], dim}, memory(heads.q_heads)), board));
  OPWRIGHT_CHECK(add_output(outputs, moved(*heads.q, k, memory(heads.kv_heads)), board));
  OPWRIGHT_CHECK(add_output(outputs, moved(*heads.q, kv, memory(heads.kv_heads)), board));
  for (OutputSpec& output : outputs) output.spec.layout.value = Layout::kTile;
  OPWRIGHT_CHECK(check(heads, out, board));
  return outputs;
}

// Where the first element of head `head` of output `output` stands in a row of the tensor that holds it.
Checked<Exact> reference(const ReferenceJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const Heads heads, read(job.call));
  if (heads.dim % 32 != 0) return unsupported("num_heads", "heads that share a tile are not modelled");
  const HostTensor& from = job.output > 0 && heads.kv != nullptr ? *job.input("input_kv") : *job.input("input");
  const std::int64_t width = from.spec.shape[3];
  const std::int64_t sequence = from.spec.shape[2];
  const std::int64_t count = job.output == 0 ? heads.q_heads : heads.kv_heads;
  std::int64_t base = job.output > 0 && heads.kv == nullptr ? heads.q_heads * heads.dim : 0;
  if (job.output == 2 && !heads.tied) base += heads.kv_heads * heads.dim;
  const bool transposed = job.output == 1 && heads.transpose_k;
  Exact exact;
  exact.value.reserve(static_cast<std::size_t>(job.rows.count() * job.rows.length));
  for (std::int64_t r = 0; r < job.rows.count(); ++r) {
    const std::int64_t row = job.rows.at(r);
    const std::int64_t inner = transposed ? heads.dim : sequence;
    const std::int64_t batch = row / (count * inner);
    const std::int64_t column = base + row / inner % count * heads.dim;
    for (std::int64_t i = 0; i < job.rows.length; ++i) {
      const std::int64_t s = transposed ? i : row % inner;
      const std::int64_t d = transposed ? row % inner : i;
      const std::int64_t at = column + d;
      exact.value.push_back(at < width ? from.at((batch * sequence + s) * width + at) : 0.0);
    }
  }
  return exact;
}

}  // namespace

const OpSpec& nlp_create_qkv_heads_op() {
  static const OpSpec spec{
      .name = "ttnn.experimental.nlp_create_qkv_heads",
      .params = {{.name = "input", .era1 = 0, .required = true, .role = Role::kPlain},
                 {.name = "input_kv", .era1 = 1, .role = Role::kPlain},
                 {.name = "num_heads", .era1 = 2, .required = true},
                 {.name = "num_kv_heads", .era1 = 3},
                 {.name = "transpose_k_heads", .era1 = 4},
                 {.name = "kv_tied"},
                 {.name = "memory_config", .era1 = 5},
                 {.name = "output_tensors", .era1 = 6, .lost = Lost::kAssumeNone, .role = Role::kBuffer}},
      .infer = infer,
      .reference = reference,
      .budget = exact_budget};
  return spec;
}

}  // namespace opwright
