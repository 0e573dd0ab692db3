#include "ops/shared/cache_rules.h"

#include <fmt/format.h>

#include "ops/shared/attention_rules.h"
#include "ops/shared/matmul_rules.h"
#include "ops/shared/movement.h"

namespace opwright {
namespace {

bool cacheable(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kBfloat16 || dtype == DType::kBfloat8B;
}

Checked<void> check_pages(const DecodeUpdate& update) {
  const TensorSpec& pages = *update.pages;
  OPWRIGHT_REQUIRE(!update.share_cache, "share_cache not supported with paged cache");
  OPWRIGHT_REQUIRE(update.positions != nullptr, "Paged cache requires update_idxs tensor");
  const bool split = sharded(pages);
  if (split)
    OPWRIGHT_REQUIRE(pages.dtype.value == DType::kUint16, "Expect page table to have datatype UINT16");
  else
    OPWRIGHT_REQUIRE(pages.dtype.value == DType::kInt32, "Expect page table to have datatype INT32");
  OPWRIGHT_REQUIRE(!tiled(pages), "Expect page table to have memory layout in ROW MAJOR");
  const Shape table = padded_shape(pages);
  OPWRIGHT_CHECK(require_rank(table, 2));
  const std::int64_t users = padded_shape(*update.input)[1];
  if (split) {
    const ShardSpec* shard = shard_of(pages);
    const std::int64_t cores = shard == nullptr ? 1 : std::max<std::int64_t>(core_count(shard->grid), 1);
    OPWRIGHT_REQUIRE(table[0] / cores == users, "Batch size in input tensor {} should match page table shard height {}",
                     users, table[0] / cores);
  } else {
    OPWRIGHT_REQUIRE(table[0] == users, "Batch size between page_table and input_tensor must match");
  }
  const std::int64_t blocks = padded_shape(*update.cache)[0];
  OPWRIGHT_REQUIRE(
      update.modulo > 0 || table[1] <= blocks,
      "max_num_blocks_per_seq must be less than max_num_blocks: max_num_blocks_per_seq={}, max_num_blocks={}", table[1],
      blocks);
  return {};
}

Checked<std::int64_t> index_count(const DecodeUpdate& update) {
  if (update.positions == nullptr) return static_cast<std::int64_t>(update.update_idxs.size());
  const TensorSpec& positions = *update.positions;
  OPWRIGHT_REQUIRE(positions.dtype.value == DType::kInt32, "Expected update_idxs to have datatype INT32");
  OPWRIGHT_REQUIRE(!tiled(positions), "Expected update_idxs to have memory layout in ROW MAJOR");
  OPWRIGHT_CHECK(require_rank(positions.shape, 1));
  if (sharded(positions)) {
    OPWRIGHT_REQUIRE(memory_layout(positions) == MemoryLayout::kHeightSharded,
                     "Expect update_idxs to be HEIGHT SHARDED if sharded");
    OPWRIGHT_REQUIRE(buffer_type(positions) == BufferType::kL1, "Expect update_idxs to have buffer type L1 if sharded");
    OPWRIGHT_CHECK(require_rank(positions.shape, 2));
    const ShardSpec* shard = shard_of(positions);
    const std::int64_t cores = shard == nullptr ? 0 : core_count(shard->grid);
    OPWRIGHT_REQUIRE(cores == padded_shape(positions)[0],
                     "Number of cores sharded on L1 ({}) should match dimension of update_idxs at 0 ({})", cores,
                     padded_shape(positions)[0]);
    return positions.shape[1];
  }
  OPWRIGHT_REQUIRE(buffer_type(positions) == BufferType::kDram, "Expect update_idxs to have buffer type DRAM");
  return padded_shape(positions)[0];
}

Checked<void> check_input_shards(const TensorSpec& input, bool fused) {
  OPWRIGHT_REQUIRE(sharded(input), "Expect input_tensor to be sharded");
  OPWRIGHT_REQUIRE(memory_layout(input) != MemoryLayout::kWidthSharded,
                   "Expect input_tensor to NOT have memory layout WIDTH SHARDED");
  const ShardSpec* shard = shard_of(input);
  if (shard == nullptr || shard->shape.size() != 2) return refuse("bad optional access");
  const Shape shape = padded_shape(input);
  OPWRIGHT_REQUIRE(
      shard->shape[1] == from_end(shape, 1),
      "Expect input_tensor to have shard width ({}) equal to the last dimension of the input tensor padded "
      "shape ({})",
      shard->shape[1], from_end(shape, 1));
  const std::int64_t height = physical_shape(input).height;
  OPWRIGHT_REQUIRE(shard->shape[0] > 0 && height % shard->shape[0] == 0,
                   "Input tensor's height must be divisible by the number of shards along the height dimension. Got "
                   "height = {}, number of shards = {}.",
                   height, shard->shape[0]);
  OPWRIGHT_REQUIRE(shard->orientation.value != Orientation::kColMajor, "Only ROW_MAJOR sharding is supported");
  OPWRIGHT_REQUIRE(height > 0, "Borrowed-memory DFB of the input exceeds the borrowed Buffer's per-bank size of 0 B.");
  if (fused) return {};
  const std::int64_t cores = core_count(shard->grid);
  OPWRIGHT_REQUIRE(cores == shape[1],
                   "Input tensor shard grid must have num_cores ({}) equal to the number of users / batch ({}). The "
                   "kernel dispatches one user per core; use a {{num_users, 1}} grid (or any CoreRangeSet whose "
                   "num_cores == num_users).",
                   cores, shape[1]);
  return {};
}

Checked<void> check_geometry(const BoundCall& call, const DecodeUpdate& update) {
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t block_size, unsigned_argument(call, "block_size", 0));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t heads, unsigned_argument(call, "num_kv_heads", 0));
  const Shape cache = padded_shape(*update.cache);
  const std::int64_t dim = from_end(padded_shape(*update.input), 1);
  if (update.pages != nullptr) {
    const std::int64_t size = block_size > 0 ? block_size : cache[2];
    const std::int64_t view = heads > 0 ? heads : cache[1];
    OPWRIGHT_REQUIRE(view * size * dim == cache[1] * cache[2] * from_end(cache, 1),
                     "paged_update_cache geometry mismatch: cache has {} elems/block (kv_heads={}, block_size={}, "
                     "head_dim={}) but call view is {} (kv_heads={}, block_size={}, head_dim={}).",
                     cache[1] * cache[2] * from_end(cache, 1), cache[1], cache[2], from_end(cache, 1),
                     view * size * dim, view, size, dim);
    OPWRIGHT_REQUIRE(size % 32 == 0 && size > 0, "effective block_size ({}) must be a multiple of TILE_HEIGHT (32)",
                     size);
    OPWRIGHT_REQUIRE(update.modulo % size == 0,
                     "cache_position_modulo ({}) must be a positive multiple of effective block_size ({}); otherwise a "
                     "wrapped position would split across blocks and the kernel can't address it.",
                     update.modulo, size);
    return {};
  }
  for (const std::string_view param : {"block_size", "num_kv_heads", "cache_position_modulo"})
    OPWRIGHT_REQUIRE(!call.passed(param), "{}_override is only supported in paged mode (when page_table is provided)",
                     param);
  OPWRIGHT_REQUIRE(dim == from_end(cache, 1),
                   "Last dim of input tensor ({}) must match last dim of cache tensor ({}) in non-paged mode", dim,
                   from_end(cache, 1));
  return {};
}

}  // namespace

Checked<void> check_cache_pair(const TensorSpec& cache, const TensorSpec& input) {
  const Shape c = padded_shape(cache);
  const Shape in = padded_shape(input);
  OPWRIGHT_REQUIRE(tiled(input) && tiled(cache), "Inputs to update_cache must be tilized");
  OPWRIGHT_REQUIRE(cacheable(input.dtype.value),
                   "Input tensor dtype must be FLOAT32, BFLOAT16, or BFLOAT8_B but got {}", dtype_text(input));
  OPWRIGHT_REQUIRE(cacheable(cache.dtype.value),
                   "Cache tensor dtype must be FLOAT32, BFLOAT16, or BFLOAT8_B but got {}", dtype_text(cache));
  OPWRIGHT_REQUIRE(from_end(in, 1) == from_end(c, 1), "Input tensor width ({}) must equal cache tensor width ({})",
                   from_end(in, 1), from_end(c, 1));
  OPWRIGHT_CHECK(require_rank(in, 2));
  OPWRIGHT_CHECK(require_rank(c, 2));
  OPWRIGHT_REQUIRE(in[0] == 1, "Input tensor batch size must be 1 but got {}", in[0]);
  OPWRIGHT_REQUIRE(in[1] == c[1], "Input tensor height ({}) must equal cache tensor height ({})", in[1], c[1]);
  const MemoryLayout layout = memory_layout(cache);
  OPWRIGHT_REQUIRE(layout == MemoryLayout::kInterleaved || layout == MemoryLayout::kNdSharded,
                   "Cache tensor memory layout must be INTERLEAVED, ND_SHARDED, or HEIGHT_SHARDED (created from ND "
                   "shard spec) but got {}",
                   layout_text(memory_of(cache)));
  if (!sharded(input)) return {};
  OPWRIGHT_REQUIRE(memory_layout(input) != MemoryLayout::kWidthSharded,
                   "Input tensor memory layout must not be WIDTH_SHARDED but got {}", layout_text(memory_of(input)));
  const ShardSpec* shard = shard_of(input);
  if (shard == nullptr || shard->shape.size() != 2 || shard->shape[0] < 1) return refuse("bad optional access");
  OPWRIGHT_REQUIRE(shard->shape[1] == from_end(in, 1), "Input tensor shard width ({}) must equal padded width ({})",
                   shard->shape[1], from_end(in, 1));
  return {};
}

Checked<DecodeUpdate> decode_update(const BoundCall& call, std::string_view cache, std::string_view input) {
  OPWRIGHT_CHECK(refuse_none(call, {"update_idxs", "batch_offset"}));
  DecodeUpdate update;
  OPWRIGHT_CHECK_ASSIGN(update.cache, device_tensor(call, cache));
  OPWRIGHT_CHECK_ASSIGN(update.input, device_tensor(call, input));
  OPWRIGHT_CHECK_ASSIGN(update.positions, optional_device_tensor(call, "update_idxs_tensor"));
  OPWRIGHT_CHECK_ASSIGN(update.pages, optional_device_tensor(call, "page_table"));
  OPWRIGHT_CHECK_ASSIGN(update.share_cache, call.flag("share_cache", false));
  if (call.passed("update_idxs")) {
    OPWRIGHT_CHECK_ASSIGN(update.update_idxs, sizes_argument(call, "update_idxs"));
  }
  OPWRIGHT_CHECK_ASSIGN(update.modulo, unsigned_argument(call, "cache_position_modulo", 0));
  return update;
}

Checked<void> check_decode_update(const BoundCall& call, const DecodeUpdate& update, bool fused) {
  const TensorSpec& cache = *update.cache;
  const TensorSpec& input = *update.input;
  const Shape c = padded_shape(cache);
  const Shape in = padded_shape(input);
  OPWRIGHT_REQUIRE(fused || tiled(input), "Input tensor in non-fused update_cache must be tilized");
  OPWRIGHT_REQUIRE(tiled(cache), "Cache tensor in update_cache must be tilized");
  OPWRIGHT_REQUIRE(cacheable(cache.dtype.value) || cache.dtype.value == DType::kBfloat4B,
                   "Data type of cache tensor must be FLOAT32, BFLOAT16, BFLOAT8_B, or BFLOAT4_B and is {}",
                   dtype_text(cache));
  OPWRIGHT_CHECK(require_rank(in, 2));
  OPWRIGHT_REQUIRE(in[0] == 1, "Dim 0 of input tensor must be 1");
  OPWRIGHT_REQUIRE(memory_layout(cache) == MemoryLayout::kInterleaved, "Only interleaved cache is supported");
  if (fused) {
    OPWRIGHT_REQUIRE(from_end(in, 1) == from_end(c, 1), "Last dim of input tensor must match last dim of cache tensor");
  } else {
    if (update.pages != nullptr) OPWRIGHT_CHECK(require_rank(c, 3));
    OPWRIGHT_CHECK(check_geometry(call, update));
    OPWRIGHT_REQUIRE(from_end(in, 1) % 32 == 0, "input_tensor last dim ({}) must be a multiple of TILE_WIDTH (32)",
                     from_end(in, 1));
  }
  if (update.pages != nullptr) {
    OPWRIGHT_CHECK(check_pages(update));
  } else if (update.share_cache) {
    OPWRIGHT_REQUIRE(c[0] == 1, "Share cache feature expects cache tensor to have batch of 1");
  } else {
    OPWRIGHT_REQUIRE(in[1] == c[0], "Expect batch in input tensor match the batch in cache tensor");
  }
  OPWRIGHT_REQUIRE((update.positions != nullptr) != !update.update_idxs.empty(),
                   "Only an update tensor or an update vector can be provided. Not both or neither.");
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t indices, index_count(update));
  OPWRIGHT_REQUIRE(in[1] == indices, "Number of update_idxs ({}) should match batch size ({})", indices, in[1]);
  OPWRIGHT_CHECK(check_input_shards(input, fused));
  OPWRIGHT_REQUIRE(input.dtype.value == DType::kFloat32 || input.dtype.value == DType::kBfloat16,
                   "Data type of input tensor for {} must be FLOAT32 or BFLOAT16; decode update repacks into the cache "
                   "dtype and should not receive low-precision packed input",
                   short_name(call.op));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t offset, unsigned_argument(call, "batch_offset", 0));
  OPWRIGHT_REQUIRE(offset == 0, "batch_offset must be 0");
  return {};
}

Checked<std::vector<CacheRow>> decode_update_rows(const ReferenceJob& job, std::string_view cache,
                                                  std::string_view input) {
  OPWRIGHT_CHECK_ASSIGN(const DecodeUpdate update, decode_update(job.call, cache, input));
  OPWRIGHT_CHECK(refuse_unknown(job.call, {"block_size", "num_kv_heads"}));
  if (update.cache->shape.size() != 4 || update.input->shape.size() != 4)
    return unsupported(std::string(cache), "caches of a rank other than 4 are not modelled");
  const HostTensor* positions = job.input("update_idxs_tensor");
  DecodeWrite write{.positions = update.update_idxs,
                    .pages = job.input("page_table"),
                    .shared = update.share_cache,
                    .modulo = update.modulo};
  const auto users = static_cast<std::size_t>(update.input->shape[1]);
  if (positions != nullptr) {
    write.positions.assign(users, -1);
    for (std::size_t i = 0; i < std::min(users, positions->ints.size()); ++i) write.positions[i] = positions->ints[i];
  }
  write.positions.resize(users, -1);
  return decode_rows(write, *job.input(cache), *job.input(input));
}

bool fill_decode_update(const BoundCall& call, std::string_view cache, std::size_t slot, Random& random,
                        HostTensor& tensor) {
  const TensorSpec* spec = call.tensor(cache);
  if (spec == nullptr || spec->shape.size() != 4) return false;
  const TensorSpec* pages = call.tensor("page_table");
  const std::string& param = call.tensors[slot].param;
  if (param == "page_table") {
    fill_pages(tensor, spec->shape[0], random);
    return true;
  }
  if (param != "update_idxs_tensor") return false;
  const std::int64_t blocks = pages == nullptr || pages->shape.empty() ? 1 : pages->shape.back();
  fill_positions(tensor, 0, blocks * spec->shape[2], random);
  return true;
}

Checked<void> check_mesh_coords(const BoundCall& call, const Board& board) {
  if (!call.passed("mesh_coords")) return {};
  std::vector<std::int64_t> numbers;
  const auto gather = [&](const auto& self, const Value& value) -> void {
    if (const std::int64_t* i = value.as_int()) numbers.push_back(*i);
    if (const List* list = value.as_list())
      for (const Value& item : *list) self(self, item);
    const Struct* s = value.as_struct();
    if (const Fields* fields = s != nullptr ? &s->fields : value.as_dict())
      for (const auto& [name, item] : *fields) self(self, item);
  };
  gather(gather, *call.find("mesh_coords"));
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2)
    OPWRIGHT_REQUIRE(numbers[i] < board.mesh[0] && numbers[i + 1] < board.mesh[1],
                     "Mesh coordinate ({}, {}) is in mesh_coords but not found in tensor_coords. mesh_coords size: {}, "
                     "tensor_coords size: {}",
                     numbers[i], numbers[i + 1], numbers.size() / 2, board.chips());
  return {};
}

}  // namespace opwright
