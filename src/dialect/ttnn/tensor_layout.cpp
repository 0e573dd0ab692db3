#include "dialect/ttnn/tensor_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "model/host_tensor.h"
#include "model/value.h"

namespace opwright {
namespace {

// Sizes beyond any memory stay where they are instead of overflowing: check_tensor refuses them.
constexpr std::int64_t kHuge = std::int64_t{1} << 56;

std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) || out > kHuge ? kHuge : out;
}

std::int64_t aligned(std::int64_t n, std::int64_t step) {
  if (n < 0 || n >= kHuge || step < 1 || step >= kHuge) return n;
  return round_up(n, step);
}

// The alignment that era-1 traces name beside a tensor (the whole of it, defaults included); empty when they do not.
Shape recorded_alignment(const TensorSpec& spec) {
  Shape out;
  for (const auto& [name, value] : spec.more) {
    if (name != "alignment") continue;
    if (const List* list = value.as_list())
      for (const Value& item : *list)
        if (const std::int64_t* i = item.as_int(); i != nullptr && *i > 0) out.push_back(*i);
  }
  return out;
}

Shape alignment_of(const TensorSpec& spec) {
  Shape out = recorded_alignment(spec);
  if (spec.layout.value == Layout::kTile) {
    const TileShape tile = tile_of(spec);
    while (out.size() < 2) out.insert(out.begin(), 1);
    out[out.size() - 1] = aligned(out.back(), tile.width);
    out[out.size() - 2] = aligned(out[out.size() - 2], tile.height);
    return out;
  }
  if (!out.empty()) return out;
  const ShardSpec* shard = named_shard(spec);
  return {shard == nullptr || shard->shape.empty() ? 1 : shard->shape.back()};
}

// The alignment of rank 2 may name a whole shard or tensor; only what lies inside the tensor's own dims is padding.
Shape align(const Shape& shape, const Shape& alignment) {
  Shape out = shape;
  while (out.size() < alignment.size()) out.insert(out.begin(), 1);
  for (std::size_t i = 0; i < alignment.size(); ++i) {
    std::int64_t& n = out[out.size() - 1 - i];
    n = aligned(n, alignment[alignment.size() - 1 - i]);
  }
  return out;
}

}  // namespace

TileShape tile_of(const TensorSpec& spec) {
  if (spec.tile && spec.tile->size() == 2) return {(*spec.tile)[0], (*spec.tile)[1]};
  return {};
}

bool is_hardware_tile(TileShape tile) {
  static constexpr auto kTiles = std::to_array<TileShape>(
      {{32, 32}, {16, 32}, {32, 16}, {16, 16}, {8, 32}, {4, 32}, {2, 32}, {1, 32}, {8, 16}, {4, 16}, {2, 16}, {1, 16}});
  return std::ranges::find(kTiles, tile) != kTiles.end();
}

std::int64_t element_bytes(DType dtype) {
  const int bits = info(dtype).bits;  // none where the trace does not say; such a tensor counts like a wide one
  return bits == 0 || is_block_float(dtype) ? 4 : bits / 8;
}

std::int64_t tile_bytes(DType dtype, TileShape tile) {
  const std::int64_t elements = tile.height * tile.width;
  if (!is_block_float(dtype)) return elements * element_bytes(dtype);
  const std::int64_t exponents = round_up(elements / 16, 16);
  return exponents + (dtype == DType::kBfloat8B ? elements : elements / 2);
}

Shape padded_shape(const Shape& shape, Layout layout, TileShape tile) {
  return align(shape, layout == Layout::kTile ? Shape{tile.height, tile.width} : Shape{1});
}

Shape padded_shape(const TensorSpec& spec) { return align(spec.shape, alignment_of(spec)); }

Shape2D physical_shape(const TensorSpec& spec) {
  const Shape padded = padded_shape(spec);
  Shape2D out{1, padded.empty() ? 1 : padded.back()};
  for (std::size_t i = 0; i + 1 < padded.size(); ++i) out.height = product(out.height, padded[i]);
  return out;
}

Pages pages_of(const TensorSpec& spec) {
  const Shape2D physical = physical_shape(spec);
  Pages out;
  if (spec.layout.value == Layout::kTile) {
    const TileShape tile = tile_of(spec);
    out.shape = {tile.height, tile.width};
    out.bytes = tile_bytes(spec.dtype.value, tile);
  } else {
    const std::int64_t element = element_bytes(spec.dtype.value);
    const ShardSpec* shard = named_shard(spec);
    const bool cut = shard != nullptr && spec.memory->layout.value != MemoryLayout::kHeightSharded;
    // A page is never empty: a tensor without elements still has pages of four bytes.
    const bool empty = physical.height == 0 || physical.width == 0;
    out.shape = {1, empty ? 4 / element : (cut && !shard->shape.empty() ? shard->shape.back() : physical.width)};
    out.bytes = product(out.shape.width, element);
  }
  if (out.shape.height > 0 && out.shape.width > 0)
    out.count = product(physical.height / out.shape.height, physical.width / out.shape.width);
  return out;
}

std::string shape_text(const Shape& shape) { return fmt::format("Shape([{}])", fmt::join(shape, ", ")); }
std::string shape_text(Shape2D shape) { return fmt::format("({}, {})", shape.height, shape.width); }

std::string grid_text(const std::vector<CoreRange>& grid) {
  std::vector<std::string> ranges;
  for (const CoreRange& range : grid)
    ranges.push_back(
        fmt::format("[(x={},y={}) - (x={},y={})]", range.start.x, range.start.y, range.end.x, range.end.y));
  return fmt::format("{{{}}}", fmt::join(ranges, ", "));
}

std::int64_t core_count(const std::vector<CoreRange>& grid) {
  std::int64_t count = 0;
  for (const CoreRange& range : grid) count += (range.end.x - range.start.x + 1) * (range.end.y - range.start.y + 1);
  return count;
}

std::vector<CoreCoord> cores_of(const std::vector<CoreRange>& grid, Orientation orientation) {
  std::vector<CoreCoord> out;
  for (const CoreRange& range : grid) {
    if (orientation == Orientation::kColMajor) {
      for (std::int64_t x = range.start.x; x <= range.end.x; ++x)
        for (std::int64_t y = range.start.y; y <= range.end.y; ++y) out.push_back({x, y});
    } else {
      for (std::int64_t y = range.start.y; y <= range.end.y; ++y)
        for (std::int64_t x = range.start.x; x <= range.end.x; ++x) out.push_back({x, y});
    }
  }
  return out;
}

bool sharded(const TensorSpec& spec) { return spec.memory && spec.memory->sharded(); }

const ShardSpec* shard_of(const TensorSpec& spec) {
  if (!sharded(spec)) return nullptr;
  if (spec.memory->shard) return &*spec.memory->shard;
  return spec.memory->nd_shard ? &*spec.memory->nd_shard : nullptr;
}

const ShardSpec* named_shard(const TensorSpec& spec) {
  return spec.memory && spec.memory->shard ? &*spec.memory->shard : shard_of(spec);
}

namespace {

// A shard of any rank that is a rectangle of the tensor laid out flat: whole in every dimension but the last behind one
// dimension, and 1 before it. Its height and width; nothing where it is none.
std::optional<Shape2D> as_rectangle(const Shape& shard, const Shape& padded) {
  if (shard.empty() || shard.size() > padded.size()) return std::nullopt;
  Shape2D out{1, shard.back()};
  bool cut = false;  // behind the dimension that is cut all are whole
  for (std::size_t i = 1; i < padded.size(); ++i) {
    const std::int64_t n = i < shard.size() ? shard[shard.size() - 1 - i] : 1;
    const std::int64_t whole = padded[padded.size() - 1 - i];
    if (n < 1 || n > whole || (cut && n != 1)) return std::nullopt;
    cut = cut || n != whole;
    out.height *= n;
  }
  if (out.width < 1 || out.width > padded.back()) return std::nullopt;
  return out;
}

// The library calls an ND spec by its older name where that says the same: one shard a core, in rows, in columns, or in
// blocks that fill the columns of the grid.
void rename_shards(TensorSpec& spec, const Shape& padded) {
  if (!spec.memory || spec.memory->shard || !spec.memory->nd_shard || padded.empty()) return;
  MemoryConfig& memory = *spec.memory;
  const ShardSpec& nd = *memory.nd_shard;
  const auto shape = as_rectangle(nd.shape, padded);
  if (!shape || nd.grid.empty() || nd.orientation.value == Orientation::kColMajor) return;
  std::int64_t height = 1;
  for (std::size_t i = 0; i + 1 < padded.size(); ++i) height *= padded[i];
  const std::int64_t down = (height + shape->height - 1) / shape->height;
  const std::int64_t across = (padded.back() + shape->width - 1) / shape->width;
  if (down < 1 || across < 1 || down * across > core_count(nd.grid)) return;
  const CoreRange& box = nd.grid.front();
  const bool fills_columns = nd.grid.size() == 1 && across == box.end.x - box.start.x + 1;
  if (down > 1 && across > 1 && !fills_columns) return;
  memory.layout.value = across == 1 ? MemoryLayout::kHeightSharded
                        : down == 1 ? MemoryLayout::kWidthSharded
                                    : MemoryLayout::kBlockSharded;
  ShardSpec named;
  named.grid = nd.grid;
  named.shape = {shape->height, shape->width};
  named.orientation.value = Orientation::kRowMajor;
  memory.shard = std::move(named);
}

}  // namespace

OutputSpec output_spec(TensorSpec spec) {
  Shape padded = padded_shape(spec);
  rename_shards(spec, padded);
  return {std::move(spec), std::move(padded), ""};
}

}  // namespace opwright
