// Which rows of a large tensor a call reads, where the values of its other tensors tell.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/bound_call.h"
#include "model/host_tensor.h"

namespace opwright {

// Rows of tensor `slot` that the call reads, ascending; nothing: any of them. `inputs`: one for each of call.tensors,
// with their values where they are small.
std::optional<std::vector<std::int64_t>> rows_read(const BoundCall& call, std::span<const HostTensor> inputs,
                                                   std::size_t slot);

}  // namespace opwright
