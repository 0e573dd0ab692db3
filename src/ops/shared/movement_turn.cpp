#include "ops/shared/movement_turn.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/host_tensor.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"
#include "ops/shared/movement_shards.h"

namespace opwright {
namespace {

bool even(const ShardSpec& shard, const Shape& padded, const Shape& shape) {
  return shard.shape[0] > 0 && shard.shape[1] > 0 && flat_height(padded) % shard.shape[0] == 0 &&
         last(shape) % shard.shape[1] == 0;
}

// Where the output lies when nobody says: as the input, with its shards turned too. What does not come out even is
// spread anew, or not sharded at all.
MemoryConfig turned_memory(const TensorSpec& input, const std::vector<std::size_t>& order, const Shape& to,
                           const Board& board) {
  const MemoryConfig own = memory_of(input);
  if (!own.sharded() || !own.shard || own.shard->shape.size() != 2) return own;
  const Shape from = padded_shape(input);
  if (volume(to) == 0 || from.size() != to.size()) return interleaved(own.buffer.value);
  const ShardSpec& shard = *own.shard;
  const std::size_t rank = order.size();
  // One matrix in strips of rows becomes one in strips of columns.
  const bool one_matrix = rank >= 2 && flat_height(from) == last(from, 2);
  const bool native = in_l1(own) && (tiled(input) || volume(shard.shape) % 1024 == 0);
  if (own.layout.value == MemoryLayout::kHeightSharded && one_matrix && native && order[rank - 1] == rank - 2 &&
      shard.shape[1] == last(from)) {
    MemoryConfig out = own;
    out.layout.value = MemoryLayout::kWidthSharded;
    ShardSpec columns = shard;
    columns.shape = {flat_height(to), shard.shape[0]};
    return with_shard(out, std::move(columns));
  }
  const auto scaled = scaled_shard(shard, from, to);
  const bool whole_tiles = scaled && scaled->shape[0] % 32 == 0 && scaled->shape[1] % 32 == 0;
  if (scaled && (whole_tiles || !tiled(input))) return with_shard(own, *scaled);
  const bool blocks = own.layout.value == MemoryLayout::kBlockSharded;
  const bool columns = own.layout.value == MemoryLayout::kWidthSharded && !scaled;
  if ((blocks || columns) && (tiled(input) || even(shard, from, input.shape)))
    return with_shard(own, fresh_shard(board, padded_shape(to, tiled(input) ? Layout::kTile : Layout::kRowMajor),
                                       own.layout.value, shard.orientation.value));
  return interleaved(own.buffer.value);
}

bool swaps_last_two(const std::vector<std::size_t>& order) {
  const std::size_t rank = order.size();
  for (std::size_t i = 0; i + 2 < rank; ++i)
    if (order[i] != i) return false;
  return rank >= 2 && order[rank - 1] == rank - 2;
}

}  // namespace

Checked<std::vector<OutputSpec>> turned(const TensorSpec& input, const std::vector<std::size_t>& order,
                                        const MemoryConfig* asked, const Board& board) {
  OPWRIGHT_CHECK(require_on_device(input));
  Shape shape;
  for (const std::size_t dim : order) shape.push_back(input.shape[dim]);
  const Shape padded = padded_shape(shape, input.layout.value);
  const bool specless = asked != nullptr && asked->sharded() && !asked->shard && !asked->nd_shard;
  OPWRIGHT_REQUIRE(!specless || volume(shape) > 0,
                   "Transpose: zero-volume specless-sharded is only representable for HEIGHT_SHARDED + non-zero width "
                   "or WIDTH_SHARDED + non-zero height");
  const bool unmoved = std::ranges::is_sorted(order);
  OPWRIGHT_REQUIRE(!unmoved || !specless, "MemoryConfig must have Shard Spec specified for sharded memory layout");
  if (unmoved && (asked == nullptr || same_memory(*asked, memory_of(input)))) return given_back(input, "input_tensor");
  const MemoryConfig placed = asked == nullptr ? turned_memory(input, order, padded, board)
                                               : completed(*asked, input, padded_shape(input), padded, board);
  MemoryConfig memory = placed;
  // Shards of any rank turn with the last two dimensions; where others move, the tensor is cut anew.
  if (asked == nullptr && memory.nd_shard && !memory.shard && order.size() >= 2 && memory.nd_shard->shape.size() >= 2) {
    ShardSpec& nd = *memory.nd_shard;
    if (swaps_last_two(order)) {
      std::swap(nd.shape[nd.shape.size() - 1], nd.shape[nd.shape.size() - 2]);
    } else if (tiled(input)) {
      memory.layout.value = MemoryLayout::kBlockSharded;
      memory = with_shard(memory, fresh_shard(board, padded, memory.layout.value, Orientation::kRowMajor));
    }
  }
  OPWRIGHT_CHECK_ASSIGN(std::vector<OutputSpec> outputs, made(moved(input, std::move(shape), memory), board));
  if (!tiled(input) && asked != nullptr && memory.sharded() && memory.shard && in_l1(memory) && order.size() >= 2 &&
      order[order.size() - 1] != order.size() - 1)
    OPWRIGHT_REQUIRE(memory.shard->shape[1] * element_bytes(input.dtype.value) % board.l1_alignment == 0,
                     "Shard page size must be aligned to {}B for L1 Tensor", board.l1_alignment);
  return outputs;
}

Checked<Exact> turned_elements(const ReferenceJob& job, const std::vector<std::size_t>& order) {
  const HostTensor& input = *job.input("input_tensor");
  const Shape own = strides_of(input.spec.shape);
  Shape strides;
  for (const std::size_t dim : order) strides.push_back(own[dim]);
  return strided_elements(job, input, strides, 0);
}

}  // namespace opwright
