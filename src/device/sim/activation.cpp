#include "device/sim/activation.h"

#include <fmt/format.h>

#include <string>

namespace opwright::sim {
namespace {

// Whose parameters are numbers of the function; those of others choose a variant or a part of the tile.
bool takes_params(Unary op) {
  switch (op) {
    case Unary::kClamp:
    case Unary::kElu:
    case Unary::kHardtanh:
    case Unary::kLeakyRelu:
    case Unary::kPower:
    case Unary::kSoftplus:
      return true;
    default:
      return false;
  }
}

}  // namespace

Checked<std::vector<FusedFunction>> fused_functions(const Value* value, std::string_view argument) {
  std::vector<FusedFunction> out;
  if (value == nullptr) return out;
  OPWRIGHT_CHECK_ASSIGN(const auto activations, activations_of(*value, argument));
  for (const Activation& activation : activations) {
    const auto op = find_unary(activation.name);
    if (!op)
      return unsupported(std::string(argument), fmt::format("activation '{}' has no kernel here", activation.name));
    FusedFunction function{*op, is_approximate(activation), {}};
    if (takes_params(*op)) function.params.assign(activation.params.begin(), activation.params.end());
    out.push_back(std::move(function));
  }
  return out;
}

void apply_all(std::span<const FusedFunction> functions, std::span<float> values, Dst dst) {
  for (const FusedFunction& function : functions) sfpu(function.op, values, dst, function.approx, function.params);
}

}  // namespace opwright::sim
