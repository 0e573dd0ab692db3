#include "ops/shared/attention_decode.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/shared/attention_data.h"
#include "ops/shared/attention_rules.h"
#include "ops/shared/cache.h"
#include "ops/shared/matmul_rules.h"
#include "ops/shared/movement.h"

namespace opwright {
namespace {

struct Decode {
  const TensorSpec* q = nullptr;
  const TensorSpec* k = nullptr;
  const TensorSpec* v = nullptr;
  const TensorSpec* mask = nullptr;
  const TensorSpec* positions = nullptr;
  const TensorSpec* sink = nullptr;
  const TensorSpec* pages = nullptr;
  std::optional<AttentionProgram> program;
  ComputeConfig compute = kAttentionCompute;
  Shape cur_pos;
  bool causal = true;
  bool share_cache = false;
  double scale = 1;
  std::int64_t window = 0;
  std::int64_t k_chunk = 0;  // 0: chosen by the kernel from the position
};

// The largest power of two that divides the positions, at most 512.
std::int64_t dividing_chunk(std::int64_t positions) {
  std::int64_t chunk = 2;
  while (chunk < 512 && positions % (chunk * 2) == 0 && positions > 0) chunk *= 2;
  return chunk;
}

Checked<Decode> read(const BoundCall& call) {
  Decode decode;
  OPWRIGHT_CHECK(refuse_none(call, {"is_causal", "cur_pos"}));
  OPWRIGHT_CHECK_ASSIGN(decode.q, device_tensor(call, "input_tensor_q"));
  OPWRIGHT_CHECK_ASSIGN(decode.k, device_tensor(call, "input_tensor_k"));
  OPWRIGHT_CHECK_ASSIGN(decode.v, device_tensor(call, "input_tensor_v"));
  OPWRIGHT_CHECK_ASSIGN(decode.pages, optional_device_tensor(call, "page_table_tensor"));
  OPWRIGHT_CHECK_ASSIGN(decode.mask, optional_device_tensor(call, "attn_mask"));
  OPWRIGHT_CHECK_ASSIGN(decode.positions, optional_device_tensor(call, "cur_pos_tensor"));
  OPWRIGHT_CHECK_ASSIGN(decode.sink, optional_device_tensor(call, "attention_sink"));
  OPWRIGHT_CHECK_ASSIGN(decode.program, attention_program(call, "program_config"));
  OPWRIGHT_CHECK_ASSIGN(decode.compute, compute_argument(call, kAttentionCompute));
  OPWRIGHT_CHECK_ASSIGN(decode.causal, call.flag("is_causal", true));
  OPWRIGHT_CHECK_ASSIGN(decode.share_cache, call.flag("share_cache", false));
  OPWRIGHT_CHECK_ASSIGN(decode.window, unsigned_argument(call, "sliding_window_size", 0));
  OPWRIGHT_CHECK_ASSIGN(decode.scale, attention_scale(call, from_end(decode.q->shape, 1)));
  if (call.passed("cur_pos")) {
    OPWRIGHT_CHECK_ASSIGN(decode.cur_pos, sizes_argument(call, "cur_pos"));
  }
  if (decode.program && decode.program->k_chunk > 0) {
    decode.k_chunk = decode.program->k_chunk;
    OPWRIGHT_REQUIRE((decode.k_chunk & (decode.k_chunk - 1)) == 0,
                     "User provided k_chunk_size must be power of 2, got: {}", decode.k_chunk);
    OPWRIGHT_REQUIRE(decode.k_chunk % 32 == 0, "User provided k_chunk_size must be multiple of 32, got: {}",
                     decode.k_chunk);
  } else if (decode.pages == nullptr) {
    decode.k_chunk = dividing_chunk(from_end(decode.k->shape, 2));
    OPWRIGHT_REQUIRE(decode.k_chunk % 32 == 0,
                     "Chunk size must be multiple of 32, but the maximum calculated k_chunk_size is: {}",
                     decode.k_chunk);
  }
  return decode;
}

Checked<void> check_places(const Decode& decode, const MemoryConfig& out) {
  for (const TensorSpec* spec : {decode.q, decode.k, decode.v})
    OPWRIGHT_REQUIRE(is_float16_or_block(*spec), "Unsupported data type {}.", dtype_text(*spec));
  for (const TensorSpec* spec : {decode.k, decode.v})
    OPWRIGHT_REQUIRE(tiled(*spec), "Inputs to SDPA must be tilized except for Q");
  if (sharded(*decode.q)) {
    OPWRIGHT_REQUIRE(memory_layout(*decode.q) == MemoryLayout::kHeightSharded,
                     "Q tensor memory layout must be HEIGHT_SHARDED when sharded but got {}",
                     layout_text(memory_of(*decode.q)));
  } else {
    OPWRIGHT_REQUIRE(buffer_type(*decode.q) == BufferType::kDram,
                     "Q tensor buffer type must be DRAM when not sharded but got {}",
                     buffer_text(memory_of(*decode.q)));
    OPWRIGHT_REQUIRE(tiled(*decode.q),
                     "ROW_MAJOR Q is only supported when Q is HEIGHT_SHARDED in L1; interleaved ROW_MAJOR Q is not "
                     "supported. Convert Q to TILE layout or shard it.");
  }
  int i = 1;
  for (const TensorSpec* spec : {decode.k, decode.v})
    OPWRIGHT_REQUIRE(buffer_type(*spec) == BufferType::kDram, "Input tensor {} buffer type must be DRAM but got {}",
                     i++, buffer_text(memory_of(*spec)));
  OPWRIGHT_REQUIRE(!out.sharded() || out.layout.value == MemoryLayout::kHeightSharded,
                   "Output memory config layout must be HEIGHT_SHARDED when sharded but got {}", layout_text(out));
  return {};
}

Checked<void> check_mask(const Decode& decode) {
  if (decode.mask == nullptr) return {};
  OPWRIGHT_REQUIRE(!decode.causal,
                   "attn_mask must not be provided when is_causal=True. Pass is_causal=False to use an explicit mask.");
  const Shape mask = padded_shape(*decode.mask);
  const Shape q = padded_shape(*decode.q);
  OPWRIGHT_CHECK(require_rank(mask, 4));
  OPWRIGHT_REQUIRE(mask[2] == q[2], "Expect same number of padded heads in mask as in Q, got {} and {}", mask[2], q[2]);
  OPWRIGHT_REQUIRE(decode.mask->shape[2] == decode.q->shape[2],
                   "Expect same number of heads in mask as in Q, got {} and {}", decode.mask->shape[2],
                   decode.q->shape[2]);
  const std::int64_t keys = padded_shape(*decode.k)[2];
  OPWRIGHT_REQUIRE(decode.pages != nullptr || mask[3] == keys,
                   "Expect same sequence length in mask as in K, got {} and {}", mask[3], keys);
  OPWRIGHT_REQUIRE(decode.k_chunk > 0, "Must provide k_chunk_size if using attention mask!");
  OPWRIGHT_REQUIRE(mask[3] % decode.k_chunk == 0, "Mask sequence length must be multiple of chunk size, got: {} and {}",
                   mask[3], decode.k_chunk);
  OPWRIGHT_REQUIRE(is_float16_or_block(*decode.mask), "Unsupported data type for mask tensor: {}.",
                   dtype_text(*decode.mask));
  return {};
}

Checked<void> check_positions(const TensorSpec& positions) {
  const Shape shape = padded_shape(positions);
  OPWRIGHT_REQUIRE(sharded(positions) || volume(shape) == from_end(shape, 1),
                   "cur_pos tensor must hold all positions in its last dim (e.g. [B] or [1, B]), got shape {}",
                   shape_text(shape));
  return {};
}

Checked<std::int64_t> paged_users(const Decode& decode) {
  const Shape table = padded_shape(*decode.pages);
  OPWRIGHT_CHECK(require_rank(table, 2));
  if (!sharded(*decode.pages)) return table[0];
  const ShardSpec* shard = shard_of(*decode.pages);
  const std::int64_t cores = shard == nullptr ? 1 : std::max<std::int64_t>(core_count(shard->grid), 1);
  return table[0] / cores;
}

Checked<void> check_paged(const Decode& decode, std::int64_t users) {
  const Shape q = padded_shape(*decode.q);
  const Shape k = padded_shape(*decode.k);
  const Shape v = padded_shape(*decode.v);
  OPWRIGHT_REQUIRE(!decode.share_cache, "Share cache feature not supported for paged attention");
  OPWRIGHT_REQUIRE(!decode.causal || decode.positions != nullptr,
                   "Must have cur_pos tensor for paged attention in causal mode");
  if (decode.causal) {
    const TensorSpec& positions = *decode.positions;
    OPWRIGHT_REQUIRE(positions.dtype.value == DType::kInt32, "Expect cur_pos to be INT32, got {}",
                     dtype_text(positions));
    OPWRIGHT_REQUIRE(!tiled(positions), "Expect cur_pos to be ROW_MAJOR, got {}", tensor_layout_text(positions));
  }
  if (decode.causal && !sharded(*decode.positions))
    OPWRIGHT_REQUIRE(from_end(decode.positions->shape, 1) == users,
                     "cur_pos must have batch size equal to Q, got {} and {}", from_end(decode.positions->shape, 1),
                     users);
  if (sharded(*decode.pages))
    OPWRIGHT_REQUIRE(decode.pages->dtype.value == DType::kUint16,
                     "Error: SDPA currently only supports UINT16 datatype for sharded configurations");
  else
    OPWRIGHT_REQUIRE(decode.pages->dtype.value == DType::kInt32, "Error: SDPA currently only supports INT32 datatype");
  OPWRIGHT_REQUIRE(!tiled(*decode.pages), "Page table tensor layout must be ROW_MAJOR but got {}",
                   tensor_layout_text(*decode.pages));
  OPWRIGHT_REQUIRE(k[2] == v[2], "K and V must have same block size");
  OPWRIGHT_REQUIRE(k[3] == v[3] && k[3] == q[3], "Q, K, V must have same hidden size");
  if (decode.causal) return {};
  const std::int64_t keys = padded_shape(*decode.pages)[1] * k[2];
  OPWRIGHT_REQUIRE(decode.k_chunk > 0, "Must provide k_chunk_size if paged and non-causal!");
  OPWRIGHT_REQUIRE(keys % decode.k_chunk == 0, "K sequence length must be multiple of chunk size, got: {} and {}", keys,
                   decode.k_chunk);
  return {};
}

Checked<void> check_plain(const Decode& decode) {
  const Shape q = padded_shape(*decode.q);
  const Shape k = padded_shape(*decode.k);
  const Shape v = padded_shape(*decode.v);
  if (decode.share_cache) {
    OPWRIGHT_REQUIRE(k[0] == 1, "Share cache expects K to have batch size of 1, but got {}", k[0]);
    OPWRIGHT_REQUIRE(v[0] == 1, "Share cache expects V to have batch size of 1, but got {}", v[0]);
  } else {
    OPWRIGHT_REQUIRE(k[0] == q[1], "K tensor batch size ({}) must equal B ({})", k[0], q[1]);
    OPWRIGHT_REQUIRE(v[0] == q[1], "V tensor batch size ({}) must equal B ({})", v[0], q[1]);
  }
  OPWRIGHT_REQUIRE(q[0] == 1, "Q tensor batch size must be 1 for decode mode but got {}", q[0]);
  OPWRIGHT_REQUIRE(from_end(k, 2) == from_end(v, 2), "K and V tensors must have the same sequence length. K: {}, V: {}",
                   from_end(k, 2), from_end(v, 2));
  OPWRIGHT_REQUIRE(k[2] % decode.k_chunk == 0, "K sequence length must be multiple of chunk size, got: {} and {}", k[2],
                   decode.k_chunk);
  const std::int64_t dim = from_end(q, 1);
  OPWRIGHT_REQUIRE(from_end(k, 1) == dim, "K tensor hidden dimension ({}) must equal Q tensor hidden dimension ({})",
                   from_end(k, 1), dim);
  OPWRIGHT_REQUIRE(from_end(v, 1) == dim, "V tensor hidden dimension ({}) must equal Q tensor hidden dimension ({})",
                   from_end(v, 1), dim);
  for (const std::int64_t position : decode.cur_pos)
    OPWRIGHT_REQUIRE(position < from_end(k, 2), "cur_pos must be <= K sequence dim");
  if (!decode.causal) return {};
  const auto listed = static_cast<std::int64_t>(decode.cur_pos.size());
  if (decode.positions == nullptr)
    OPWRIGHT_REQUIRE(listed >= q[1], "vector::_M_range_check: __n (which is {}) >= this->size() (which is {})", listed,
                     listed);
  else
    OPWRIGHT_REQUIRE(sharded(*decode.positions) || from_end(padded_shape(*decode.positions), 1) >= q[1],
                     "cur_pos tensor must have at least one position per batch ({}), got shape {}", q[1],
                     shape_text(decode.positions->shape));
  return {};
}

Checked<void> check_end(const Decode& decode, std::int64_t users, const MemoryConfig& out, const Board& board) {
  const Shape q = padded_shape(*decode.q);
  const Shape k = padded_shape(*decode.k);
  const Shape v = padded_shape(*decode.v);
  OPWRIGHT_REQUIRE(k[1] == v[1], "Flash decode expects K and V to have same number of heads, but got {} and {}", k[1],
                   v[1]);
  if (k[1] > 1) {
    OPWRIGHT_REQUIRE(!out.sharded(), "Sharded output not supported for GQA");
    OPWRIGHT_REQUIRE(decode.q->dtype.value == DType::kBfloat16, "GQA expects BFLOAT16 input tensor, but got {}",
                     dtype_text(*decode.q));
  }
  OPWRIGHT_REQUIRE(k[1] > 0 && decode.q->shape[2] % k[1] == 0,
                   "GQA expects Q to have a multiple of K heads, but got {} and {}", decode.q->shape[2], k[1]);
  if (decode.sink != nullptr) {
    const Shape sink = padded_shape(*decode.sink);
    OPWRIGHT_REQUIRE(sink.size() == 2, "Attention sink must have 2 dimensions");
    OPWRIGHT_REQUIRE(sink[0] == q[2], "Attention sink must have the same padded num heads as Q but got {}", sink[0]);
    OPWRIGHT_REQUIRE(sink[1] == 32, "Attention sink must be a single tile wide, but got {}", sink[1]);
    OPWRIGHT_REQUIRE(decode.sink->dtype.value == DType::kBfloat16, "Attention sink must by a BF16 tensor, but got {}",
                     dtype_text(*decode.sink));
    OPWRIGHT_REQUIRE(tiled(*decode.sink), "Attention sink must be in TILE layout, but got {}",
                     tensor_layout_text(*decode.sink));
    OPWRIGHT_REQUIRE(buffer_type(*decode.sink) == BufferType::kDram,
                     "Attention sink must be in DRAM memory, but got {}", buffer_text(memory_of(*decode.sink)));
  }
  OPWRIGHT_CHECK(require_pages(*decode.q));
  OPWRIGHT_CHECK(require_pages(*decode.k));
  std::int64_t cores = board.cores();
  if (decode.program && decode.program->grid && !decode.program->sub_core_grids)
    cores = decode.program->grid->x * decode.program->grid->y;
  OPWRIGHT_REQUIRE(cores <= board.cores(), "Cores available ({}) exceeds grid size ({})", cores, board.cores());
  OPWRIGHT_REQUIRE(cores >= users, "Cores available ({}) must be >= batch size ({})", cores, users);
  OPWRIGHT_REQUIRE(!decode.program || decode.program->max_cores_per_head > 0, "max_cores_per_head_batch must be > 0");
  return {};
}

}  // namespace

Checked<std::vector<OutputSpec>> infer_decode(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK(refuse_unknown(call, {"paged_cache_geometry", "cache_position_modulo", "spec_multi_pos_tiles"}));
  OPWRIGHT_CHECK_ASSIGN(const Decode decode, read(call));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* const asked, memory_argument(call, "memory_config"));
  const MemoryConfig out = asked != nullptr ? *asked : interleaved(BufferType::kDram);
  for (const TensorSpec* spec : {decode.q, decode.k, decode.v}) {
    OPWRIGHT_CHECK(require_rank(spec->shape, 4));
    OPWRIGHT_REQUIRE(spec->shape.size() == 4, "SDPA decode takes tensors of rank 4, got {}", shape_text(spec->shape));
  }
  std::int64_t users = decode.k->shape[0];
  if (decode.pages != nullptr) {
    OPWRIGHT_CHECK_ASSIGN(users, paged_users(decode));
  }
  if (out.sharded() && !out.shard && !out.nd_shard) return refuse("bad optional access");
  TensorSpec output = moved(*decode.q, decode.q->shape, out);
  output.shape[1] = users;
  OPWRIGHT_CHECK_ASSIGN(auto outputs, made(std::move(output), board));
  OPWRIGHT_CHECK(check_places(decode, out));
  if (decode.positions != nullptr) OPWRIGHT_CHECK(check_positions(*decode.positions));
  OPWRIGHT_CHECK(check_mask(decode));
  if (decode.pages != nullptr)
    OPWRIGHT_CHECK(check_paged(decode, users));
  else
    OPWRIGHT_CHECK(check_plain(decode));
  OPWRIGHT_CHECK(check_end(decode, users, out, board));
  return outputs;
}

Checked<Attending> decode_queries(const ReferenceJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const Decode decode, read(job.call));
  const HostTensor& q = *job.input("input_tensor_q");
  const HostTensor* mask = job.input("attn_mask");
  const HostTensor* sink = job.input("attention_sink");
  const HostTensor* positions = job.input("cur_pos_tensor");
  Attending out{.store = {job.input("input_tensor_k"), job.input("input_tensor_v"), job.input("page_table_tensor")},
                .scale = decode.scale,
                .compute = decode.compute};
  const Shape& shape = q.spec.shape;
  const std::int64_t heads = shape[2];
  const std::int64_t group = heads / out.store.keys->spec.shape[1];
  const std::int64_t keys = out.store.length();
  for (std::int64_t h = 0; sink != nullptr && h < heads; ++h)
    out.sinks.push_back(sink->at(h * row_length(sink->spec.shape)));
  for (std::int64_t r = 0; r < job.rows.count(); ++r) {
    const std::int64_t row = job.rows.at(r);
    const std::int64_t user = row / heads;
    Query query{.q = q.floats.data() + std::min(row, shape[1] * heads - 1) * shape[3],
                .user = decode.share_cache ? 0 : user,
                .kv_head = row % heads / group,
                .end = keys};
    if (decode.causal) {
      const auto at = static_cast<std::size_t>(user);
      std::int64_t position = -1;
      if (positions != nullptr && at < positions->ints.size()) position = positions->ints[at];
      if (positions == nullptr && at < decode.cur_pos.size()) position = decode.cur_pos[at];
      query.end = std::clamp<std::int64_t>(position + 1, 0, keys);
      if (decode.window > 0) query.begin = std::max<std::int64_t>(0, query.end - decode.window);
    }
    if (mask != nullptr) {
      const Shape& m = mask->spec.shape;
      const std::int64_t base = ((m[0] == 1 ? 0 : user) * m[2] * m[1] + row % heads) * m[3];
      query.mask = [mask, base, width = m[3]](std::int64_t key) { return key < width ? mask->at(base + key) : 0.0; };
    }
    if (sink != nullptr) query.sink = &out.sinks[static_cast<std::size_t>(row % heads)];
    out.queries.push_back(std::move(query));
  }
  return out;
}

Checked<Exact> decode_exact(const ReferenceJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const Attending attending, decode_queries(job));
  return attention_exact(attending, job.rows.length);
}

// Positions as deep as prompts usually are: far enough for several chunks, near enough to stay quick.
bool fill_decode(const BoundCall& call, std::size_t slot, Random& random, HostTensor& tensor) {
  const std::string& param = call.tensors[slot].param;
  const TensorSpec* keys = call.tensor("input_tensor_k");
  const TensorSpec* pages = call.tensor("page_table_tensor");
  if (keys == nullptr || keys->shape.size() != 4) return false;
  if (param == "page_table_tensor") {
    fill_pages(tensor, keys->shape[0], random);
  } else if (param == "cur_pos_tensor") {
    const std::int64_t length = keys->shape[2] * (pages == nullptr || pages->shape.empty() ? 1 : pages->shape.back());
    fill_positions(tensor, std::min<std::int64_t>(175, length / 4), std::min<std::int64_t>(700, length), random);
  } else if (param == "attn_mask" && !tensor.integer()) {
    fill_mask(tensor, random);
  } else {
    return false;
  }
  return true;
}

void arrange_decode(const BoundCall& call, std::span<HostTensor> inputs) {
  arrange_attention(call, inputs, decode_queries);
}

}  // namespace opwright
