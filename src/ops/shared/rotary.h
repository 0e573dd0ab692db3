// Rotary position embeddings: pairs of values turned by an angle that grows with the position.
#pragma once

#include <cstdint>

#include "model/error_budget.h"
#include "ops/op.h"

namespace opwright {

// One row of a result, x cos + (x T) sin: T turns pairs inside each 32 values (the llama way). `matrix` is 32 x 32.
struct RotaryRow {
  const HostTensor* x = nullptr;
  std::int64_t x_row = -1;  // -1: padding, zero
  const HostTensor* cos = nullptr;
  const HostTensor* sin = nullptr;
  std::int64_t angle_row = -1;         // of cos and sin; -1: beyond them, the result is zero
  const HostTensor* matrix = nullptr;  // null: the second half of a row, negated, stands before the first one
};
// Appends `length` values and their magnitudes. Rows of x, cos and sin that are shorter end in zeros.
void append_rotary(const RotaryRow& row, std::int64_t length, Exact& exact);

ErrorBudget rotary_budget();

// Angles of `theta`^(-2i/d) a position. `pairs`: neighbours share an angle (llama), else halves do.
void fill_angles(HostTensor& tensor, bool sine, bool pairs, bool position_of_user);
// Blocks of 32 x 32 that turn (a, b) into (-b, a).
void fill_rotation(HostTensor& tensor);

}  // namespace opwright
