#include "ops/shared/attention_prefill.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/shared/attention_rules.h"
#include "ops/shared/matmul_rules.h"
#include "ops/shared/movement.h"

namespace opwright {

Checked<Prefill> read_prefill(const BoundCall& call) {
  Prefill prefill;
  OPWRIGHT_CHECK(refuse_none(call, {"is_causal"}));
  OPWRIGHT_CHECK_ASSIGN(prefill.q, device_tensor(call, "input_tensor_q"));
  OPWRIGHT_CHECK_ASSIGN(prefill.k, device_tensor(call, "input_tensor_k"));
  OPWRIGHT_CHECK_ASSIGN(prefill.v, device_tensor(call, "input_tensor_v"));
  OPWRIGHT_CHECK_ASSIGN(prefill.mask, optional_device_tensor(call, "attn_mask"));
  OPWRIGHT_CHECK_ASSIGN(prefill.sink, optional_device_tensor(call, "attention_sink"));
  OPWRIGHT_CHECK_ASSIGN(prefill.pages, optional_device_tensor(call, "page_table_tensor"));
  OPWRIGHT_CHECK_ASSIGN(prefill.program, attention_program(call, "program_config"));
  OPWRIGHT_CHECK_ASSIGN(prefill.compute, compute_argument(call, kAttentionCompute));
  OPWRIGHT_CHECK_ASSIGN(prefill.causal, call.flag("is_causal", true));
  OPWRIGHT_CHECK_ASSIGN(prefill.window, unsigned_argument(call, "sliding_window_size", 0));
  OPWRIGHT_CHECK_ASSIGN(prefill.scale, attention_scale(call, from_end(prefill.q->shape, 1)));
  return prefill;
}

Checked<void> check_prefill_operands(const Prefill& prefill) {
  for (const TensorSpec* spec : {prefill.q, prefill.k, prefill.v}) {
    OPWRIGHT_REQUIRE(tiled(*spec), "Inputs to SDPA must be tilized");
    OPWRIGHT_REQUIRE(is_float16_or_block(*spec),
                     "Data type of input tensor must be BFLOAT16, BFLOAT8_B, or BFLOAT4_B and is {}",
                     dtype_text(*spec));
    OPWRIGHT_REQUIRE(!sharded(*spec), "Operands to SDPA need to be DRAM/L1 interleaved");
  }
  for (const TensorSpec* spec : {prefill.q, prefill.k, prefill.v}) OPWRIGHT_CHECK(require_rank(spec->shape, 4));
  return {};
}

Checked<void> check_prefill_heads(const Prefill& prefill) {
  const Shape& q = prefill.q->shape;
  const Shape& k = prefill.k->shape;
  const Shape& v = prefill.v->shape;
  OPWRIGHT_REQUIRE(v[1] == k[1], "K and V num_heads must match. Got K: {}, V: {}", k[1], v[1]);
  if (prefill.pages == nullptr)
    OPWRIGHT_REQUIRE(v[2] == k[2], "K and V sequence length must match. Got K: {}, V: {}", k[2], v[2]);
  OPWRIGHT_REQUIRE(k[3] == q[3] && v[3] == q[3], "K and V hidden dim must match. Got K: {}, V: {}", k[3], v[3]);
  OPWRIGHT_REQUIRE(k[1] > 0 && q[1] >= k[1] && q[1] % k[1] == 0,
                   "Q num_heads must be >= K num_heads and divisible by K num_heads, and K num_heads must be greater "
                   "than 0. Got Q: {}, K: {}",
                   q[1], k[1]);
  if (!prefill.program) return {};
  const auto whole_tiles = [](std::int64_t n) { return n > 0 && n % 32 == 0; };
  OPWRIGHT_REQUIRE(whole_tiles(prefill.program->q_chunk),
                   "q_chunk_size must be a positive multiple of TILE_SIZE. Got q_chunk_size: {}, TILE_SIZE: 32",
                   prefill.program->q_chunk);
  OPWRIGHT_REQUIRE(whole_tiles(prefill.program->k_chunk),
                   "k_chunk_size must be a positive multiple of TILE_SIZE. Got k_chunk_size: {}, TILE_SIZE: 32",
                   prefill.program->k_chunk);
  return {};
}

Checked<void> check_prefill_end(const Prefill& prefill, const Board& board) {
  if (prefill.sink != nullptr) {
    const TensorSpec& sink = *prefill.sink;
    OPWRIGHT_REQUIRE(tiled(sink), "Attention sink must be tilized");
    OPWRIGHT_REQUIRE(is_float16_or_block(sink), "Attention sink must be in BF16, BFP8, or BFP4 dataformat");
    OPWRIGHT_REQUIRE(buffer_type(sink) == BufferType::kDram, "Attention sink must be in DRAM");
    OPWRIGHT_CHECK(require_rank(sink.shape, 4));
    OPWRIGHT_REQUIRE(sink.shape[0] == 1, "Attention sink batch dimension must be 1. Got {}", sink.shape[0]);
    OPWRIGHT_REQUIRE(sink.shape[1] == prefill.q->shape[1],
                     "Attention sink num_heads must match Q num_heads. Got sink: {}, Q: {}", sink.shape[1],
                     prefill.q->shape[1]);
    OPWRIGHT_REQUIRE(sink.shape[2] == 1, "Attention sink sequence dimension must be 1. Got {}", sink.shape[2]);
    OPWRIGHT_REQUIRE(sink.shape[3] == 1, "Attention sink hidden dimension must be 1. Got {}", sink.shape[3]);
  }
  for (const TensorSpec* spec : {prefill.q, prefill.k, prefill.v})
    OPWRIGHT_REQUIRE(spec->shape.size() > 4 || spec->shape[3] % 32 == 0,
                     "Padding is not supported on the head_dim dimension");
  if (prefill.program && prefill.program->grid) {
    const std::int64_t cores = prefill.program->grid->x * prefill.program->grid->y;
    OPWRIGHT_REQUIRE(
        cores <= board.cores(),
        "Provided grid must not contain more cores than the device. Got {} cores, expected at most {} cores.", cores,
        board.cores());
    OPWRIGHT_REQUIRE(cores > 0, "SDPA requires a non-empty core grid; got num_cores={}.", cores);
  }
  OPWRIGHT_CHECK(require_pages(*prefill.q));
  return require_pages(*prefill.k);
}

Checked<std::vector<OutputSpec>> prefill_outputs(const BoundCall& call, const Prefill& prefill, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* const asked, memory_argument(call, "memory_config"));
  TensorSpec output = moved(*prefill.q, prefill.q->shape, asked != nullptr ? *asked : interleaved(BufferType::kDram));
  output.layout.value = Layout::kTile;
  return made(std::move(output), board);
}

Checked<Attending> prefill_queries(const ReferenceJob& job, std::int64_t start) {
  OPWRIGHT_CHECK_ASSIGN(const Prefill prefill, read_prefill(job.call));
  const HostTensor& q = *job.input("input_tensor_q");
  const HostTensor* mask = job.input("attn_mask");
  const HostTensor* sink = job.input("attention_sink");
  Attending out{.store = {job.input("input_tensor_k"), job.input("input_tensor_v"), job.input("page_table_tensor")},
                .scale = prefill.scale,
                .compute = prefill.compute};
  const Shape& shape = q.spec.shape;
  if (shape.size() != 4) return unsupported("input_tensor_q", "attention of a rank other than 4 is not modelled");
  const std::int64_t heads = shape[1];
  const std::int64_t group = heads / out.store.keys->spec.shape[1];
  const std::int64_t keys = out.store.length();
  for (std::int64_t h = 0; sink != nullptr && h < heads; ++h) out.sinks.push_back(sink->at(h));
  for (std::int64_t r = 0; r < job.rows.count(); ++r) {
    const std::int64_t row = job.rows.at(r);
    const std::int64_t s = row % shape[2];
    const std::int64_t head = row / shape[2] % heads;
    const std::int64_t position = start + s;
    Query query{.q = q.floats.data() + row * shape[3], .user = row / (shape[2] * heads), .kv_head = head / group};
    query.end = prefill.causal ? std::min(position + 1, keys) : keys;
    if (prefill.window > 0 && prefill.causal) query.begin = std::max<std::int64_t>(0, position + 1 - prefill.window);
    // Without causality the window lies around the query.
    if (prefill.window > 0 && !prefill.causal) {
      query.begin = std::max<std::int64_t>(0, position - prefill.window / 2);
      query.end = std::min(keys, position + prefill.window / 2 + 1);
    }
    if (mask != nullptr) {
      const Shape& m = mask->spec.shape;
      const std::int64_t user = m[0] == 1 ? 0 : query.user;
      const std::int64_t base = ((user * m[1] + (m[1] == 1 ? 0 : head)) * m[2] + s) * m[3];
      query.mask = [mask, base](std::int64_t key) { return mask->at(base + key); };
    }
    if (sink != nullptr) query.sink = &out.sinks[static_cast<std::size_t>(head)];
    out.queries.push_back(std::move(query));
  }
  return out;
}

Checked<Exact> prefill_exact(const ReferenceJob& job, std::int64_t start) {
  OPWRIGHT_CHECK_ASSIGN(const Attending attending, prefill_queries(job, start));
  return attention_exact(attending, job.rows.length);
}

}  // namespace opwright
