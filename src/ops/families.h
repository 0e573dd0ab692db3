// Operators that differ in a row of a table only.
#pragma once

#include <span>

#include "ops/op.h"

namespace opwright {

std::span<const OpSpec> unary_ops();
std::span<const OpSpec> binary_ops();
std::span<const OpSpec> reduce_ops();
std::span<const OpSpec> like_ops();

}  // namespace opwright
