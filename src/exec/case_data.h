// Input data of a case: seeded, by role, the same bytes for every device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/host_tensor.h"
#include "ops/op.h"

namespace opwright {

enum class Distribution : std::uint8_t { kNormal, kUniform01, kPositive };
std::string_view name_of(Distribution distribution);  // "N(0,1)", "U(0,1)", "|N(0,1)|+0.1"

struct DataRecipe {
  Distribution distribution = Distribution::kNormal;
  std::uint64_t seed = 1;
};

// One tensor for each of call.tensors, with values that its dtype can hold (rounded as the host encodes them).
std::vector<HostTensor> make_inputs(const OpSpec& op, const BoundCall& call, const DataRecipe& recipe);

}  // namespace opwright
