// Where the kernels find the elements of an operand that stretches to the shape of the result.
#pragma once

#include <cstdint>
#include <vector>

#include "model/tensor_spec.h"

namespace opwright::sim {

// Reads a tensor of shape `from` as if it had the shape `to`, row by row of the last dimension.
class BroadcastRows {
 public:
  BroadcastRows(const Shape& from, const Shape& to);

  std::int64_t offset(std::int64_t row) const;  // of the row's first element, in the tensor
  bool steps() const { return step_; }          // false: all elements of a row are the tensor's one
  bool plain() const { return plain_; }         // nothing stretches: rows lie one after the other

 private:
  struct Dim {
    std::int64_t size = 1;
    std::int64_t stride = 0;
  };
  std::vector<Dim> dims_;  // all but the last, outermost first
  std::int64_t length_ = 1;
  bool step_ = true;
  bool plain_ = true;
};

}  // namespace opwright::sim
