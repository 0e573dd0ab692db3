// Queries that show which keys were used.
#pragma once

#include <span>

#include "ops/shared/attention.h"

namespace opwright {

// `queries` says what the picked rows of a call see; the rows of `input_tensor_q` are made to look for keys at the
// edges of that, the sinks to compete with them. Leaves calls alone that it does not understand.
void arrange_attention(const BoundCall& call, std::span<HostTensor> inputs,
                       Checked<Attending> (*queries)(const ReferenceJob& job));

}  // namespace opwright
