// ttnn.experimental.paged_fill_cache: the positions of one user, block by block where the page table says, in place.
#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shared/attention_rules.h"
#include "ops/shared/cache_rules.h"
#include "ops/shared/movement.h"

namespace opwright {
namespace {

Checked<void> check_users(const TensorSpec& users, std::int64_t batch) {
  OPWRIGHT_REQUIRE(volume(padded_shape(users)) == batch,
                   "Batch idx tensor must have input_tensor batch dim ({}) elements, got {}", batch,
                   volume(padded_shape(users)));
  OPWRIGHT_REQUIRE(users.dtype.value == DType::kUint32 || users.dtype.value == DType::kInt32,
                   "Batch idx tensor must be an integer type");
  OPWRIGHT_REQUIRE(!tiled(users), "Batch idx tensor must be in ROW_MAJOR layout");
  OPWRIGHT_REQUIRE(memory_layout(users) == MemoryLayout::kInterleaved,
                   "Batch idx tensor must have INTERLEAVED memory layout");
  OPWRIGHT_REQUIRE(buffer_type(users) == BufferType::kDram, "Batch idx tensor must be DRAM-resident");
  return {};
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK(refuse_none(call, {"batch_idx"}));
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* const cache, device_tensor(call, "cache_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* const input, device_tensor(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* const pages, device_tensor(call, "page_table"));
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* const users, optional_device_tensor(call, "batch_idx_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t user, unsigned_argument(call, "batch_idx", 0));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t override_size, unsigned_argument(call, "block_size", 0));
  OPWRIGHT_CHECK_ASSIGN(const auto modulo, unsigned_argument(call, "cache_position_modulo"));
  OPWRIGHT_CHECK(compute_argument(call, {}));
  const DType dtype = cache->dtype.value;
  OPWRIGHT_REQUIRE(is_float16_or_block(*cache) || dtype == DType::kFloat32,
                   "Data type of cache tensor for paged_fill_cache must be FLOAT32, BFLOAT16, BFLOAT8_B, or BFLOAT4_B "
                   "and is {}",
                   dtype_text(*cache));
  OPWRIGHT_REQUIRE(
      input->dtype.value == dtype,
      "Input tensor dtype ({}) must match cache tensor dtype ({}) for paged_fill_cache; cast prefill K/V to "
      "the cache dtype before filling the paged cache.",
      dtype_text(*input), dtype_text(*cache));
  OPWRIGHT_REQUIRE(memory_layout(*input) == MemoryLayout::kInterleaved,
                   "Expect input_tensor to have memory layout INTERLEAVED");
  OPWRIGHT_REQUIRE(memory_layout(*pages) == MemoryLayout::kInterleaved,
                   "Expect page_table_tensor to have memory layout INTERLEAVED");
  OPWRIGHT_REQUIRE(pages->dtype.value == DType::kInt32, "Expect page_table_tensor to have datatype INT32");
  const Shape c = padded_shape(*cache);
  const Shape in = padded_shape(*input);
  const Shape table = padded_shape(*pages);
  OPWRIGHT_CHECK(require_rank(table, 1));
  OPWRIGHT_REQUIRE(user < table[0], "Batch idx must be within the page_table batch size");
  for (const Shape* shape : {&c, &in}) OPWRIGHT_CHECK(require_rank(*shape, 4));
  OPWRIGHT_CHECK(require_rank(table, 2));
  const std::int64_t block = override_size > 0 ? override_size : c[2];
  const std::int64_t held = c[1] * c[2] * c[3];
  const std::int64_t given = in[1] * block * in[3];
  OPWRIGHT_REQUIRE(held == given,
                   "paged_fill_cache geometry mismatch: cache has {} elems/block (kv_heads={}, block_size={}, "
                   "head_dim={}) but input view is {} (kv_heads={}, block_size={}, head_dim={}).",
                   held, c[1], c[2], c[3], given, in[1], block, in[3]);
  OPWRIGHT_REQUIRE(in[3] % 32 == 0, "input_tensor last dim ({}) must be a multiple of TILE_WIDTH (32)", in[3]);
  OPWRIGHT_REQUIRE(block > 0 && block % 32 == 0, "effective block_size ({}) must be a multiple of TILE_HEIGHT (32)",
                   block);
  if (modulo) {
    OPWRIGHT_REQUIRE(*modulo > 0, "cache_position_modulo must be > 0 when provided");
    OPWRIGHT_REQUIRE(*modulo % block == 0,
                     "cache_position_modulo ({}) must be a positive multiple of effective block_size ({}); otherwise a "
                     "wrapped position would split across blocks and the kernel can't address it.",
                     *modulo, block);
    OPWRIGHT_REQUIRE(*modulo <= block * table[1],
                     "cache_position_modulo ({}) must fit in max_num_blocks_per_seq ({}) * block_size ({})", *modulo,
                     table[1], block);
  } else {
    OPWRIGHT_REQUIRE(in[2] <= block * table[1],
                     "Input seq_len ({}) must fit in max_num_blocks_per_seq ({}) * block_size ({})", in[2], table[1],
                     block);
    OPWRIGHT_REQUIRE(!call.passed("valid_seq_len_tensor"),
                     "valid_seq_len tensor is only supported when cache_position_modulo is set (bounded fill)");
  }
  if (users != nullptr)
    OPWRIGHT_CHECK(check_users(*users, in[0]));
  else
    OPWRIGHT_REQUIRE(in[0] == 1,
                     "When no batch_idx_tensor is provided, input_batch must be 1 (got {}); pass a batch_idx_tensor of "
                     "size input_batch to fill multiple batch rows in one call.",
                     in[0]);
  OPWRIGHT_CHECK(check_mesh_coords(call, board));
  return given_back(*cache, "cache_tensor");
}

// Whole tiles are copied, the padding of the last one too.
Checked<std::vector<CacheRow>> rows(const ReferenceJob& job) {
  OPWRIGHT_CHECK(refuse_unknown(job.call, {"block_size", "valid_seq_len_tensor"}));
  const HostTensor& cache = *job.input("cache_tensor");
  const HostTensor& input = *job.input("input_tensor");
  const HostTensor& pages = *job.input("page_table");
  const HostTensor* users = job.input("batch_idx_tensor");
  const Shape& c = cache.spec.shape;
  const Shape& in = input.spec.shape;
  if (c.size() != 4 || in.size() != 4 || pages.spec.shape.size() < 2 || in[1] != c[1])
    return unsupported("cache_tensor", "caches seen in another shape than their own are not modelled");
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t fallback, job.call.integer("batch_idx", 0));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t modulo, job.call.integer("cache_position_modulo", 0));
  const std::int64_t columns = pages.spec.shape[1];
  std::vector<CacheRow> out;
  for (std::int64_t b = 0; b < in[0]; ++b) {
    const std::int64_t user = users == nullptr ? fallback : static_cast<std::int64_t>(users->at(b));
    for (std::int64_t s = 0; s < round_up(in[2], 32); ++s) {
      const std::int64_t position = modulo > 0 ? s % modulo : s;
      const std::int64_t page = user * columns + position / c[2];
      if (user < 0 || position / c[2] >= columns || page >= pages.size()) continue;
      const auto block = static_cast<std::int64_t>(pages.at(page));
      if (block < 0 || block >= c[0]) continue;
      for (std::int64_t head = 0; head < c[1]; ++head)
        out.push_back(
            {(block * c[1] + head) * c[2] + position % c[2], s < in[2] ? (b * in[1] + head) * in[2] + s : -1});
    }
  }
  return settled(std::move(out), cache);
}

Checked<Exact> reference(const ReferenceJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const auto writes, rows(job));
  return cache_exact(job, *job.input("cache_tensor"), *job.input("input_tensor"), writes);
}

std::vector<std::int64_t> written(const ReferenceJob& job) { return cache_rows(rows(job)); }

ErrorBudget budget(const BoundCall& call, std::span<const OutputSpec>, std::size_t) {
  return cache_budget(call, "cache_tensor", "input_tensor");
}

bool fill(const BoundCall& call, std::size_t slot, Random& random, HostTensor& tensor) {
  const std::string& param = call.tensors[slot].param;
  const TensorSpec* cache = call.tensor("cache_tensor");
  const TensorSpec* pages = call.tensor("page_table");
  if (param == "page_table" && cache != nullptr && !cache->shape.empty())
    fill_pages(tensor, cache->shape[0], random);
  else if (param == "batch_idx_tensor" && pages != nullptr && !pages->shape.empty())
    fill_pages(tensor, pages->shape[0], random);
  else
    return false;
  return true;
}

}  // namespace

const OpSpec& paged_fill_cache_op() {
  static const OpSpec spec{.name = "ttnn.experimental.paged_fill_cache",
                           .params = {{.name = "cache_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "input_tensor", .era1 = 1, .required = true, .role = Role::kPlain},
                                      {.name = "page_table", .era1 = 2, .required = true, .role = Role::kPages},
                                      {.name = "batch_idx_tensor", .era1 = 3, .role = Role::kUsers},
                                      {.name = "batch_idx", .era1 = 4},
                                      {.name = "compute_kernel_config", .era1 = 5},
                                      {.name = "mesh_coords", .era1 = 6, .lost = Lost::kNoMatter},
                                      {.name = "block_size"},
                                      {.name = "cache_position_modulo"},
                                      {.name = "valid_seq_len_tensor"}},
                           .infer = infer,
                           .reference = reference,
                           .budget = budget,
                           .fill = fill,
                           .written = written};
  return spec;
}

}  // namespace opwright
