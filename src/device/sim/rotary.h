// Rotary embeddings: two products on the matrix engine and their sum, with 16-bit buffers in between.
#pragma once

#include <cstdint>
#include <span>

#include "device/sim/kernel.h"
#include "device/sim/pack.h"

namespace opwright::sim {

struct RotaryRow {
  std::span<const float> x;    // as wide as the result
  std::span<const float> cos;  // may be narrower: the rest is padding, zero
  std::span<const float> sin;
  const float* matrix = nullptr;  // 32 x 32; null: halves change places, the second negated
};

// out = x cos + turned(x) sin, packed to bfloat16 buffers on the way and to `dtype` at the end.
void rotate(const RotaryRow& row, Dst dst, DType dtype, std::span<float> out);

// Row `row` of a tensor.
std::span<const float> row_of(const HostTensor& tensor, std::int64_t row);
ComputeConfig rotary_compute(const BoundCall& call);

}  // namespace opwright::sim
