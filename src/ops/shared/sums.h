// How many values one result adds up.
#pragma once

#include <string_view>

#include "ops/op.h"

namespace opwright {

// A sum over the dimensions `dims` of `input`: all of the tensor where none is named.
Sum summed(const BoundCall& call, std::string_view input, std::string_view dims);
Sum matmul_sum(const BoundCall& call);
Sum conv_sum(const BoundCall& call);

}  // namespace opwright
