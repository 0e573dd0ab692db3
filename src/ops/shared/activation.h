// The exact functions that operators fuse.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "dialect/ttnn/activation.h"
#include "ops/shared/unary_exact.h"

namespace opwright {

struct ExactActivation {
  ExactUnary function = nullptr;
  std::vector<double> params;

  double operator()(double x) const { return function(x, params); }
};

// The functions of an activation argument of a call, in order; none when `value` is null or None. Refuses by name those
// that nobody knows here.
Checked<std::vector<ExactActivation>> exact_activations(const Value* value, std::string_view argument);
double apply_all(std::span<const ExactActivation> activations, double x);

}  // namespace opwright
