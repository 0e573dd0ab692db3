#include "ops/shared/eltwise.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "model/host_tensor.h"

namespace opwright::eltwise {
namespace {

struct Cut {  // of one dimension into equal parts, the last one perhaps shorter
  std::int64_t shard = 1;
  std::int64_t parts = 1;
};

Cut cut(std::int64_t size, std::int64_t unit, std::int64_t cores) {
  const std::int64_t units = std::max<std::int64_t>(div_up(size, unit), 1);
  const std::int64_t shard =
      std::min(div_up(units, std::max<std::int64_t>(cores, 1)) * unit, std::max<std::int64_t>(size, 1));
  return {shard, std::max<std::int64_t>(div_up(size, shard), 1)};
}

// The first `count` cores, row by row.
std::vector<CoreRange> first_cores(std::int64_t count, const CoreCoord& grid) {
  std::vector<CoreRange> out;
  const std::int64_t rows = count / grid.x;
  if (rows > 0) out.push_back({{0, 0}, {grid.x - 1, rows - 1}});
  if (const std::int64_t rest = count % grid.x; rest > 0) out.push_back({{0, rows}, {rest - 1, rows}});
  return out;
}

}  // namespace

bool has_elements(const TensorSpec& spec) {
  return std::ranges::none_of(spec.shape, [](std::int64_t n) { return n == 0; });
}

std::string dtype_text(DType dtype) { return fmt::format("DataType::{}", name_of(dtype)); }

TensorSpec device_tensor(Shape shape, DType dtype, Layout layout, MemoryConfig memory) {
  TensorSpec out;
  out.shape = std::move(shape);
  out.has_shape = true;
  out.dtype.value = dtype;
  out.layout.value = layout;
  out.storage.value = StorageType::kDevice;
  out.memory = std::move(memory);
  return out;
}

Checked<ShardSpec> scaled_shard(const ShardSpec& shard, const Shape& from, const Shape& to) {
  // Stretched shapes may be beyond any memory: sizes stop growing there, and the output is refused later.
  const auto times = [](std::int64_t a, std::int64_t b) {
    std::int64_t out = 0;
    return __builtin_mul_overflow(a, b, &out) ? std::numeric_limits<std::int64_t>::max() : out;
  };
  const auto height = [&](const Shape& shape) {
    std::int64_t out = 1;
    for (std::size_t i = 0; i + 1 < shape.size(); ++i) out = times(out, shape[i]);
    return out;
  };
  OPWRIGHT_REQUIRE(height(from) > 0, "Invalid from_shape: volume is zero");
  OPWRIGHT_REQUIRE(row_length(from) > 0, "Invalid from_shape: width dimension is zero");
  if (shard.shape.size() != 2) return unsupported("memory_config", "an ND shard spec that has to stretch");
  ShardSpec out = shard;
  out.shape[0] = std::max<std::int64_t>(times(shard.shape[0], height(to)) / height(from), 32);
  out.shape[1] = std::max<std::int64_t>(times(shard.shape[1], row_length(to)) / row_length(from), 32);
  return out;
}

ShardSpec spread_shard(const TensorSpec& tensor, MemoryLayout layout, const Board& board) {
  const Shape2D size = physical_shape(tensor);
  const bool tiles = tensor.layout.value == Layout::kTile;
  const TileShape tile = tile_of(tensor);
  const std::int64_t rows = tiles ? tile.height : 1;
  const std::int64_t columns =
      tiles ? tile.width : std::max<std::int64_t>(board.l1_alignment / element_bytes(tensor.dtype.value), 1);
  ShardSpec out;
  out.orientation.value = Orientation::kRowMajor;
  if (layout == MemoryLayout::kHeightSharded) {
    const Cut height = cut(size.height, rows, board.cores());
    out.shape = {height.shard, size.width};
    out.grid = first_cores(height.parts, board.grid);
  } else if (layout == MemoryLayout::kWidthSharded) {
    const Cut width = cut(size.width, columns, board.cores());
    out.shape = {size.height, width.shard};
    out.grid = first_cores(width.parts, board.grid);
  } else {
    const Cut height = cut(size.height, rows, board.grid.y);
    const Cut width = cut(size.width, columns, board.grid.x);
    out.shape = {height.shard, width.shard};
    out.grid = {{{0, 0}, {width.parts - 1, height.parts - 1}}};
  }
  return out;
}

Checked<std::vector<OutputSpec>> one_output(TensorSpec spec, const Board& board) {
  OPWRIGHT_CHECK(check_tensor(spec, board));
  return std::vector{output_spec(std::move(spec))};
}

}  // namespace opwright::eltwise
