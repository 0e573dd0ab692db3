// Shapes that stretch to one another, and the element of an operand that stands at a place of the result. Written for
// the references alone: kernels find their elements themselves, so that a wrong index on one side is seen.
#pragma once

#include <cstdint>
#include <optional>

#include "model/tensor_spec.h"

namespace opwright {

// Dimensions are matched from the last one; each pair is equal or has a 1, which stretches. Nothing when one does not.
std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b);

// A tensor of shape `from` seen as one of shape `to`, row by row of the last dimension.
class BroadcastRows {
 public:
  BroadcastRows(Shape from, Shape to);

  // Of the row's first element, in the tensor.
  std::int64_t offset(std::int64_t row) const { return from_.back() * row_in(from_.size() - 1, row); }
  // False: all elements of a row are the tensor's one.
  bool steps() const { return from_.back() != 1; }

 private:
  // The row of the tensor for row `row` of the result, both counted over the first `dims` dimensions.
  std::int64_t row_in(std::size_t dims, std::int64_t row) const;

  Shape from_;  // both of the same rank, at least 1
  Shape to_;
};

}  // namespace opwright
