#include "ops/shared/activation.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "ops/shared/fast_error.h"

namespace opwright {

Checked<std::vector<ExactActivation>> exact_activations(const Value* value, std::string_view argument) {
  std::vector<ExactActivation> out;
  if (value == nullptr) return out;
  OPWRIGHT_CHECK_ASSIGN(const auto activations, activations_of(*value, argument));
  for (const Activation& activation : activations) {
    const ExactUnary function = find_exact_unary(activation.name);
    if (function == nullptr)
      return unsupported(std::string(argument), fmt::format("activation '{}' is not known here", activation.name));
    out.push_back(
        {function, activation.params, activation.name, is_approximate(activation), find_exact_each(activation.name)});
  }
  return out;
}

double apply_all(std::span<const ExactActivation> activations, double x) {
  for (const ExactActivation& activation : activations) x = activation(x);
  return x;
}

void apply_after(std::vector<ExactActivation> activations, Exact& exact) {
  if (activations.empty()) return;
  const ExactActivation& last = activations.back();
  if (last.fast && fast_error(last.name, 0.0) >= 0.0) {
    // What the last one is given is what the others make of `before`.
    exact.slack = [activations](std::span<double> values) {
      for (double& x : values) {
        for (std::size_t i = 0; i + 1 < activations.size(); ++i) x = activations[i](x);
        x = fast_error(activations.back().name, x);
      }
    };
  }
  exact.before = exact.value;
  for (std::size_t i = 0; i < exact.value.size(); ++i) {
    exact.value[i] = apply_all(activations, exact.before[i]);
    // Of 1 / 0 the zero's sign decides, which devices do not keep.
    if (exact.before[i] == 0 && std::isinf(exact.value[i])) exact.open.push_back(i);
  }
  exact.after = [activations = std::move(activations)](std::span<double> values) {
    for (const ExactActivation& activation : activations) {
      if (activation.each != nullptr) {
        activation.each(values, activation.params);
      } else {
        for (double& x : values) x = activation(x);
      }
    }
  };
}

ErrorBudget::After after_error(std::span<const ExactActivation> activations, DType out) {
  ErrorBudget::After after;
  for (const ExactActivation& activation : activations) {
    after.ulps += 2;
    // Tails of functions that come close to 0 are computed as a difference, to a small part of 1.
    after.floor = 0.0625;
    if (out == DType::kFloat32) after.relative += 0x1p-8;
    if (activation.fast && fast_error(activation.name, 0.0) < 0.0) after.relative += 0x1p-4;
  }
  return after;
}

}  // namespace opwright
