// Functions fused into an operator: `activations=[UnaryOpType.SILU]`, `activation="relu"`,
// `fused_activation=UnaryWithParam(UnaryOpType.GELU, 1.0)`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/refusal.h"
#include "model/value.h"

namespace opwright {

struct Activation {
  std::string name;            // of the function: "silu", "reciprocal"
  std::vector<double> params;  // as the library has them; the last of GELU, EXP, SIGMOID, … is the approximation flag

  friend bool operator==(const Activation&, const Activation&) = default;
};

// Reads one activation or a list of them, in every spelling of both eras: enum members, texts, UnaryWithParam structs.
// None is an empty list. `argument` is the parameter that the value came from.
Checked<std::vector<Activation>> activations_of(const Value& value, std::string_view argument);

// Whether the function runs as its fast variant.
bool is_approximate(const Activation& activation);

}  // namespace opwright
