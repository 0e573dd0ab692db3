// Input data of a case: seeded, by role, the same bytes for every device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/data_recipe.h"
#include "model/host_tensor.h"
#include "ops/op.h"

namespace opwright {

// One tensor for each of call.tensors, with values that its dtype can hold (rounded as the host encodes them).
std::vector<HostTensor> make_inputs(const OpSpec& op, const BoundCall& call, const DataRecipe& recipe);

}  // namespace opwright
