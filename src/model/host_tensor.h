// A tensor with its values, as they stand in memory when read back: logical shape, row major.
#pragma once

#include <cstdint>
#include <vector>

#include "model/tensor_spec.h"

namespace opwright {

inline std::int64_t volume(const Shape& shape) {
  std::int64_t product = 1;
  for (std::int64_t n : shape) product *= n;
  return product;
}
// Elements of the last dimension: the unit in which references, sampling and judging work. 1 for a scalar.
inline std::int64_t row_length(const Shape& shape) { return shape.empty() ? 1 : shape.back(); }

// Float dtypes (bfloat16, float32 and the block floats, whose every value is a float32) are in `floats`, integer
// dtypes in `ints`. Values are always ones that the dtype can hold, and the dtype is one that is computed with.
struct HostTensor {
  TensorSpec spec;
  std::vector<float> floats;
  std::vector<std::int64_t> ints;

  std::int64_t size() const { return volume(spec.shape); }
  bool integer() const { return is_integer(spec.dtype.value); }
  double at(std::int64_t i) const {
    return integer() ? static_cast<double>(ints[static_cast<std::size_t>(i)])
                     : static_cast<double>(floats[static_cast<std::size_t>(i)]);
  }
};

}  // namespace opwright
