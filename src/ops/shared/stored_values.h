// What the host keeps of numbers when it converts them to another dtype, from the definition of the dtype. References
// of operators that convert an operand on the host use it: the converter that makes the device's data
// (model/quantize.h) works on bits, and a fault there shall be seen.
#pragma once

#include <span>

#include "model/tensor_spec.h"

namespace opwright {

// Replaces a row by its nearest values of a float dtype, ties to even. Block floats: each 16 elements from the row's
// first on share the exponent of the largest, and what does not reach the grid of that exponent's float32 is cut off
// before rounding.
void as_stored(std::span<double> row, DType dtype);

}  // namespace opwright
