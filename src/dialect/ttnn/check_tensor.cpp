// The rules of check_tensor, in the order in which the real library meets them: grids, layout, shards, then banks.
#include <fmt/format.h>

#include <algorithm>

#include "dialect/ttnn/shard_distribution.h"
#include "dialect/ttnn/tensor_layout.h"
#include "model/host_tensor.h"

namespace opwright {
namespace {

constexpr std::int64_t kLargestDim = 0xFFFFFFFF;
constexpr std::int64_t kLargestCoordinate = 0xFFFF;

// Dimensions that the library's shapes can hold, and no more elements than could be counted.
Checked<void> check_dims(const Shape& shape, const Shape& padded) {
  for (const std::int64_t n : shape)
    OPWRIGHT_REQUIRE(n >= 0 && n <= kLargestDim, "A dimension lies between 0 and {}, got {}", kLargestDim,
                     shape_text(shape));
  std::int64_t elements = 1;
  for (const std::int64_t n : padded) {
    if (n == 0) continue;  // an empty tensor, but products of its other dimensions are taken too
    if (n > kMostElements / elements)
      return refuse_memory(fmt::format("{} has more elements than any memory holds", shape_text(shape)));
    elements *= n;
  }
  return {};
}

Checked<void> check_sizes(const TensorSpec& spec) {
  constexpr std::size_t kMaxRank = 8;
  OPWRIGHT_REQUIRE(spec.shape.size() <= kMaxRank, "A tensor has at most {} dimensions, got {}", kMaxRank,
                   shape_text(spec.shape));
  if (const ShardSpec* shard = named_shard(spec)) OPWRIGHT_CHECK(check_dims(shard->shape, shard->shape));
  return check_dims(spec.shape, padded_shape(spec));
}

std::string range_text(const CoreRange& range) {
  return fmt::format("[{}-{} - {}-{}]", range.start.x, range.start.y, range.end.x, range.end.y);
}

bool overlap(const CoreRange& a, const CoreRange& b) {
  return a.start.x <= b.end.x && b.start.x <= a.end.x && a.start.y <= b.end.y && b.start.y <= a.end.y;
}

Checked<void> check_grid(const std::vector<CoreRange>& grid) {
  for (const CoreRange& range : grid) {
    OPWRIGHT_REQUIRE(range.end.x >= range.start.x && range.end.y >= range.start.y && range.start.x >= 0 &&
                         range.start.y >= 0 && range.end.x <= kLargestCoordinate && range.end.y <= kLargestCoordinate,
                     "Invalid core range for start_coord: {}-{}, end_coord: {}-{}", range.start.x, range.start.y,
                     range.end.x, range.end.y);
  }
  for (std::size_t i = 0; i < grid.size(); ++i)
    for (std::size_t j = i + 1; j < grid.size(); ++j)
      OPWRIGHT_REQUIRE(!overlap(grid[i], grid[j]),
                       "Cannot create CoreRangeSet with specified core ranges because core ranges {} and {} overlap!",
                       range_text(grid[i]), range_text(grid[j]));
  return {};
}

// Shards are made of whole tiles; row-major shards that cut rows must leave something of them.
Checked<void> check_shard_alignment(const TensorSpec& spec, const ShardSpec& shard) {
  const Shape& part = shard.shape;
  if (spec.layout.value == Layout::kTile) {
    if (!sharded(spec)) return {};
    const TileShape tile = tile_of(spec);
    const std::int64_t height = part.size() < 2 ? 1 : part[part.size() - 2];
    OPWRIGHT_REQUIRE(!part.empty() && part.back() % tile.width == 0 && height % tile.height == 0,
                     "Physical shard shape {} must be tile {{{}, {}}} sized!",
                     spec.memory->shard && part.size() == 2 ? shape_text(Shape2D{part[0], part[1]}) : shape_text(part),
                     tile.height, tile.width);
  } else if (spec.memory->layout.value != MemoryLayout::kHeightSharded) {
    OPWRIGHT_REQUIRE(
        !part.empty() && part.back() > 0,
        "Row Major width alignment must be greater than 0; a sharded tensor takes it from the shard width ({})",
        part.empty() ? 0 : part.back());
  }
  return {};
}

// Whether 2-D shards cover the tensor and find cores enough.
Checked<void> check_shard_fit(const TensorSpec& spec, const ShardSpec& shard) {
  const Shape2D physical = physical_shape(spec);
  const std::int64_t height = shard.shape[0];
  const std::int64_t width = shard.shape[1];
  const std::int64_t cores = core_count(shard.grid);
  const MemoryLayout layout = spec.memory->layout.value;
  const bool cuts_height = layout != MemoryLayout::kWidthSharded;
  const bool cuts_width = layout != MemoryLayout::kHeightSharded;
  OPWRIGHT_REQUIRE((height > 0 || !cuts_height) && (width > 0 || !cuts_width),
                   "Shard shape must be greater than 0 in each sharded dim, got [{}, {}]", height, width);
  const std::int64_t down = cuts_height ? div_up(physical.height, height) : 1;
  const std::int64_t across = cuts_width ? div_up(physical.width, width) : 1;
  if (layout == MemoryLayout::kHeightSharded) {
    OPWRIGHT_REQUIRE(width == physical.width, "Shard width {} must match physical width {} for height sharded", width,
                     physical.width);
    OPWRIGHT_REQUIRE(down <= cores, "Number of shards along height {} must not exceed number of cores {}", down, cores);
  } else if (layout == MemoryLayout::kWidthSharded) {
    OPWRIGHT_REQUIRE(height == physical.height, "Shard height {} must match physical height {} for width sharded",
                     height, physical.height);
    OPWRIGHT_REQUIRE(across <= cores, "Number of shards along width {} must not exceed number of cores {}", across,
                     cores);
  } else {
    OPWRIGHT_REQUIRE(shard.grid.size() == 1, "Shard grid must be one full rectangular grid for block sharded!");
    const std::int64_t columns = shard.grid[0].end.x - shard.grid[0].start.x + 1;
    const std::int64_t rows = shard.grid[0].end.y - shard.grid[0].start.y + 1;
    const bool turned = shard.orientation.value == Orientation::kColMajor;
    const std::string_view how = turned ? "column major" : "row major";
    OPWRIGHT_REQUIRE(down <= (turned ? columns : rows),
                     "Number of shards along height {} must not exceed number of {} {} for {} orientation!", down,
                     turned ? "columns" : "rows", turned ? columns : rows, how);
    OPWRIGHT_REQUIRE(across <= (turned ? rows : columns),
                     "Number of shards along width {} must not exceed number of {} {} for {} orientation!", across,
                     turned ? "rows" : "columns", turned ? rows : columns, how);
  }
  return {};
}

// The first core in shard order without a bank is within one step of the banks, so wide ranges need not be walked.
Checked<void> check_banks(const std::vector<CoreRange>& grid, Orientation orientation, BufferType buffer,
                          const Board& board) {
  const bool dram = buffer == BufferType::kDram;
  const CoreCoord banks = dram ? CoreCoord{board.dram_banks, 1} : board.grid;
  for (CoreRange range : grid) {
    range.end.x = std::min(range.end.x, std::max(range.start.x, banks.x));
    range.end.y = std::min(range.end.y, std::max(range.start.y, banks.y));
    for (const CoreCoord core : cores_of({range}, orientation)) {
      OPWRIGHT_REQUIRE(!dram || core.y == 0,
                       "Invalid DRAM shard grid: shard core ({}, {}) is not on row 0. DRAM banks are 1D (bank_id == "
                       "logical x-coordinate), so every shard core must have y == 0.",
                       core.x, core.y);
      OPWRIGHT_REQUIRE(core.x < banks.x && core.y < banks.y,
                       "Invalid shard grid: shard core ({}, {}) has no {} bank on this device, which has {} of them. "
                       "Derive the shard grid from the device (dram_grid_size() for DRAM, "
                       "compute_with_storage_grid_size() for L1) rather than assuming a fixed size -- a harvested "
                       "device exposes fewer banks than an unharvested one of the same type. An L1 shard core outside "
                       "the compute grid is legal only while it is claimed via ServiceCoreManager.",
                       core.x, core.y, dram ? "DRAM" : "L1", banks.x * banks.y);
    }
  }
  return {};
}

}  // namespace

Checked<void> check_memory(const MemoryConfig& memory) {
  for (const auto* shard : {&memory.shard, &memory.nd_shard})
    if (*shard) OPWRIGHT_CHECK(check_grid((*shard)->grid));
  return {};
}

Checked<void> check_tensor(const TensorSpec& spec, const Board& board) {
  if (!spec.type.empty()) return {};  // no tensor of the library: what an operator says of it is its own business
  OPWRIGHT_CHECK(check_sizes(spec));
  if (spec.dtype.present() && !computed(spec.dtype.value))
    return unsupported("dtype", fmt::format("dtype {}", spec.dtype.name()));
  if (spec.layout.value == Layout::kUnknown)
    return unsupported("layout", fmt::format("layout {}", spec.layout.unknown));
  if (spec.storage.value == StorageType::kHost) {
    OPWRIGHT_REQUIRE(!is_block_float(spec.dtype.value) || spec.layout.value != Layout::kRowMajor,
                     "Layout must be Layout::TILE for bfloat8_b or bfloat4_b!");
    return {};
  }
  if (spec.layout.value == Layout::kTile)
    OPWRIGHT_REQUIRE(is_hardware_tile(tile_of(spec)), "Tile size is not valid for our hardware");
  if (spec.memory) OPWRIGHT_CHECK(check_memory(*spec.memory));
  const ShardSpec* named = named_shard(spec);
  if (named != nullptr) OPWRIGHT_CHECK(check_shard_alignment(spec, *named));
  const bool two_d = named != nullptr && spec.memory->shard.has_value();
  OPWRIGHT_REQUIRE(!two_d || named->shape.size() == 2, "A shard has a height and a width, got {}",
                   shape_text(named->shape));
  if (two_d && sharded(spec)) OPWRIGHT_CHECK(check_shard_fit(spec, *named));
  // The library names the first block float whichever it is.
  OPWRIGHT_REQUIRE(!is_block_float(spec.dtype.value) || spec.layout.value != Layout::kRowMajor,
                   "Only TILE layout is supported for BFLOAT8_B dtype!");
  const ShardSpec* shard = shard_of(spec);
  OPWRIGHT_REQUIRE(shard != nullptr || !sharded(spec),
                   "MemoryConfig must have Shard Spec specified for sharded memory layout");
  if (two_d && padded_shape(spec).size() == 1)
    OPWRIGHT_REQUIRE(named->shape[0] == 1, "Shard shape must be 1D for 1D tensor!");
  const Pages pages = pages_of(spec);
  if (shard == nullptr) {
    OPWRIGHT_REQUIRE(pages.count == 0 || !spec.memory || spec.memory->buffer.value != BufferType::kL1Small,
                     "L1_SMALL only supports sharded allocations, see validate_num_banks");
    return {};
  }
  const std::int64_t width = physical_shape(spec).width;
  OPWRIGHT_REQUIRE(pages.shape.width > 0 && width % pages.shape.width == 0,
                   "Physical width {} must be multiple of page width {}", width, pages.shape.width);
  OPWRIGHT_CHECK_ASSIGN(const ShardDistribution spread, distribute(spec));
  return check_banks(spread.grid, shard->orientation.value, spec.memory->buffer.value, board);
}

}  // namespace opwright
