#include "dialect/ttnn/shard_distribution.h"

#include <fmt/format.h>

#include <algorithm>

namespace opwright {
namespace {

// A tensor and its shard over the same dimensions, counted in pages, outermost first.
struct Cut {
  Shape tensor;
  Shape shard;
};

// Dimensions outside the shard's rank belong to its outermost one. A dimension that the shard covers exactly is no cut
// at all: it becomes one with the next outer dimension.
Cut merged(const Shape& tensor, const Shape& shard) {
  Cut out;
  bool join = false;
  for (std::size_t i = 1; i <= shard.size(); ++i) {
    const std::int64_t whole = tensor[tensor.size() - i];
    const std::int64_t part = shard[shard.size() - i];
    if (join) {
      out.tensor.front() *= whole;
      out.shard.front() *= part;
    } else {
      out.tensor.insert(out.tensor.begin(), whole);
      out.shard.insert(out.shard.begin(), part);
    }
    join = whole == part;
  }
  for (std::size_t i = shard.size() + 1; i <= tensor.size(); ++i) out.tensor.front() *= tensor[tensor.size() - i];
  return out;
}

void to_pages(Shape& shape, Shape2D page) {
  shape.back() = div_up(shape.back(), page.width);
  if (shape.size() > 1) shape[shape.size() - 2] = div_up(shape[shape.size() - 2], page.height);
}

}  // namespace

Checked<ShardDistribution> distribute(const TensorSpec& spec) {
  const ShardSpec& shard = *shard_of(spec);
  const bool grid_2d = spec.memory->shard ? spec.memory->layout.value == MemoryLayout::kBlockSharded
                                          : shard.distribution.ends_with("GRID_2D");
  Shape tensor = padded_shape(spec);
  Shape part = shard.shape;
  // The 2-D shard of a tensor of rank 1 is [1, width].
  if (spec.memory->shard && tensor.size() == 1) part = {part.back()};
  OPWRIGHT_REQUIRE(!part.empty(), "Shard shape must have non zero volume!");
  OPWRIGHT_REQUIRE(!grid_2d || part.size() <= 2, "2D grid distribution is only supported for 2D sharding!");
  OPWRIGHT_REQUIRE(!grid_2d || shard.grid.size() == 1,
                   "2D grid distribution is only supported for one contiguous core grid!");
  OPWRIGHT_REQUIRE(tensor.size() >= part.size(), "Tensor shape rank ({}) can't be less than shard shape rank ({})!",
                   tensor.size(), part.size());
  const Shape2D page = pages_of(spec).shape;
  to_pages(tensor, page);
  to_pages(part, page);
  OPWRIGHT_REQUIRE(std::ranges::find(part, 0) == part.end(), "Shard shape must have non zero volume!");
  const Cut cut = merged(tensor, part);

  ShardDistribution out{.shards = 1, .shard_pages = 1, .grid = shard.grid};
  for (std::size_t i = 0; i < cut.shard.size(); ++i) {
    out.shards *= div_up(cut.tensor[i], cut.shard[i]);
    out.shard_pages *= cut.shard[i];
  }
  const std::int64_t cores = core_count(shard.grid);
  OPWRIGHT_REQUIRE(cores > 0 || out.shards == 0, "Can't distribute non zero volume tensor over an empty set of cores");
  if (grid_2d) {
    CoreRange& range = out.grid[0];
    std::int64_t across = div_up(tensor.back(), part.back());
    std::int64_t down = across == 0 ? 0 : out.shards / across;
    if (shard.orientation.value == Orientation::kColMajor) std::swap(across, down);
    OPWRIGHT_REQUIRE(across <= range.end.x - range.start.x + 1,
                     "Number of shards along width must not exceed core grid width!");
    OPWRIGHT_REQUIRE(down <= range.end.y - range.start.y + 1,
                     "Number of shards along height must not exceed core grid height!");
    range.end = {range.start.x + across - 1, range.start.y + down - 1};
  }
  out.cores = std::min(out.shards, cores);
  out.shards_per_core = cores == 0 ? 0 : div_up(out.shards, cores);
  if (out.shards_per_core > kMostElements / (out.shard_pages * page.height * page.width))
    return refuse_memory(
        fmt::format("the shards {} of one core are more than any memory holds", shape_text(shard.shape)));
  return out;
}

}  // namespace opwright
