// The exact functions that operators fuse.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/ttnn/activation.h"
#include "ops/op.h"
#include "ops/shared/unary_each.h"
#include "ops/shared/unary_exact.h"

namespace opwright {

struct ExactActivation {
  ExactUnary function = nullptr;
  std::vector<double> params;
  std::string name;
  bool fast = false;         // the library runs its fast variant
  ExactEach each = nullptr;  // the same of many values; null: one after the other

  double operator()(double x) const { return function(x, params); }
};

// The functions of an activation argument of a call, in order; none when `value` is null or None. Refuses by name those
// that nobody knows here.
Checked<std::vector<ExactActivation>> exact_activations(const Value* value, std::string_view argument);
double apply_all(std::span<const ExactActivation> activations, double x);

// Applies functions that end an operator to its exact result, and keeps what they were given, so that the judge can
// carry the error before them through them.
void apply_after(std::vector<ExactActivation> activations, Exact& exact);
// Their own error, into an output of this dtype.
ErrorBudget::After after_error(std::span<const ExactActivation> activations, DType out);

}  // namespace opwright
