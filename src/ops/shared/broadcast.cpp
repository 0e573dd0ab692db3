#include "ops/shared/broadcast.h"

#include <algorithm>
#include <utility>

namespace opwright {
namespace {

Shape with_rank(Shape shape, std::size_t rank) {
  if (shape.size() < rank) shape.insert(shape.begin(), rank - shape.size(), 1);
  return shape;
}

}  // namespace

std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  const Shape x = with_rank(a, rank);
  Shape out = with_rank(b, rank);
  for (std::size_t i = 0; i < rank; ++i) {
    if (x[i] != out[i] && x[i] != 1 && out[i] != 1) return std::nullopt;
    if (out[i] == 1) out[i] = x[i];
  }
  return out;
}

BroadcastRows::BroadcastRows(Shape from, Shape to) {
  const std::size_t rank = std::max({from.size(), to.size(), std::size_t{1}});
  from_ = with_rank(std::move(from), rank);
  to_ = with_rank(std::move(to), rank);
}

std::int64_t BroadcastRows::row_in(std::size_t dims, std::int64_t row) const {
  if (dims == 0) return 0;
  const std::int64_t size = from_[dims - 1];
  const std::int64_t place = size == 1 ? 0 : row % to_[dims - 1];
  return row_in(dims - 1, row / to_[dims - 1]) * size + place;
}

}  // namespace opwright
