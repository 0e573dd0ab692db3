// Marks on plain data, so that a kernel that uses the wrong part of it gives a wrong result. Random numbers show which
// element was used wherever an operator moves or adds them up; they do not where it divides by a statistic of many: all
// rows of N(0,1) have the same mean, variance and sum of exponentials.
#pragma once

#include <cstdint>

#include "model/host_tensor.h"
#include "ops/op.h"

namespace opwright {

// Marks tensor `slot`, filled with numbers of N(0,1) by its role, in one pass over its rows. The marks follow from
// the seed and the row, and are the same for all tensors of a call: operands that are added stay of one size.
void mark(const OpSpec& op, const BoundCall& call, std::size_t slot, Role role, std::uint64_t seed, HostTensor& tensor);

}  // namespace opwright
