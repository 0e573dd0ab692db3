// The functions that operators fuse, as the vector unit computes them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "device/sim/sfpu.h"
#include "dialect/ttnn/activation.h"

namespace opwright::sim {

struct FusedFunction {
  Unary op = Unary::kIdentity;
  bool approx = false;
  std::vector<float> params;
};

// The functions of an activation argument of a call, in order; none when `value` is null or None. Refuses by name those
// without a vector kernel here.
Checked<std::vector<FusedFunction>> fused_functions(const Value* value, std::string_view argument);

// Replaces values in the destination register by those of all the functions, one after the other.
void apply_all(std::span<const FusedFunction> functions, std::span<float> values, Dst dst);

}  // namespace opwright::sim
