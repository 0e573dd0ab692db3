// Where the elements of a tensor lie: padding, the physical 2-D shape, pages and shards, and the rules that a tensor
// must keep to exist on a device. Messages are the real library's, because its users search for them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dialect/ttnn/board.h"
#include "model/output_spec.h"
#include "model/refusal.h"
#include "model/tensor_spec.h"

namespace opwright {

struct TileShape {
  std::int64_t height = 32;
  std::int64_t width = 32;
  friend bool operator==(const TileShape&, const TileShape&) = default;
};
TileShape tile_of(const TensorSpec& spec);
bool is_hardware_tile(TileShape tile);  // 32x32, 16x32, … 1x16: what the unpacker can read

inline constexpr std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}
inline constexpr std::int64_t div_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step; }

// Bytes of one element in row-major form, and of one tile. Block floats: elements have no size of their own (4 in RM).
std::int64_t element_bytes(DType dtype);
std::int64_t tile_bytes(DType dtype, TileShape tile = {});

// The last two dimensions rounded up to tiles (TILE) or as they are (ROW_MAJOR; to the shard width when sharded), and
// custom alignments (`alignment` of era-1 traces) honoured.
Shape padded_shape(const TensorSpec& spec);
// The same for a layout alone.
Shape padded_shape(const Shape& shape, Layout layout, TileShape tile = {});
struct Shape2D {
  std::int64_t height = 0;
  std::int64_t width = 0;
  friend bool operator==(const Shape2D&, const Shape2D&) = default;
};
Shape2D physical_shape(const TensorSpec& spec);
// More than any memory holds: check_tensor refuses such tensors, so that nobody behind it has to mind overflows.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 48;

// The unit in which a tensor is spread over banks: a tile, or a row of a row-major tensor (of a shard, where sharding
// cuts rows).
struct Pages {
  Shape2D shape;
  std::int64_t bytes = 0;  // of one page, before the memory's alignment
  std::int64_t count = 0;
};
Pages pages_of(const TensorSpec& spec);

// Texts as the library prints them: `Shape([1, 1, 32, 64])`, `(64, 32)`, `{[(x=0,y=0) - (x=7,y=6)]}`.
std::string shape_text(const Shape& shape);
std::string shape_text(Shape2D shape);
std::string grid_text(const std::vector<CoreRange>& grid);

std::int64_t core_count(const std::vector<CoreRange>& grid);
// Cores in shard order: range by range, x fastest for ROW_MAJOR, y fastest for COL_MAJOR.
std::vector<CoreCoord> cores_of(const std::vector<CoreRange>& grid, Orientation orientation);
bool sharded(const TensorSpec& spec);
// What says how a sharded tensor is cut: the 2-D shard spec, or the ND one where that is all there is. Null: none.
const ShardSpec* shard_of(const TensorSpec& spec);
// The same, also where an interleaved memory config carries a shard spec: it cuts nothing, but the library still takes
// the width of row-major pages from it.
const ShardSpec* named_shard(const TensorSpec& spec);

// Whether the library can make such a memory config at all: core ranges in order, none over another.
Checked<void> check_memory(const MemoryConfig& memory);

// Whether such a tensor can be made on the board: dtype against layout, shard shape and grid, orientation, banks.
// Room is not looked at: that is the allocator's business. Tensors on the host keep no rule of the device.
Checked<void> check_tensor(const TensorSpec& spec, const Board& board);

// A tensor that an operator makes, padded as its layout asks.
OutputSpec output_spec(TensorSpec spec);

}  // namespace opwright
