#include "ops/shared/activation.h"

#include <fmt/format.h>

#include <string>

namespace opwright {

Checked<std::vector<ExactActivation>> exact_activations(const Value* value, std::string_view argument) {
  std::vector<ExactActivation> out;
  if (value == nullptr) return out;
  OPWRIGHT_CHECK_ASSIGN(const auto activations, activations_of(*value, argument));
  for (const Activation& activation : activations) {
    const ExactUnary function = find_exact_unary(activation.name);
    if (function == nullptr)
      return unsupported(std::string(argument), fmt::format("activation '{}' is not known here", activation.name));
    out.push_back({function, activation.params});
  }
  return out;
}

double apply_all(std::span<const ExactActivation> activations, double x) {
  for (const ExactActivation& activation : activations) x = activation(x);
  return x;
}

}  // namespace opwright
