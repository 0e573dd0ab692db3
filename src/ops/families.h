// Operators that differ in a row of a table only.
#pragma once

#include <span>

#include "ops/op.h"

namespace opwright {

std::span<const OpSpec> unary_ops();
std::span<const OpSpec> binary_ops();
std::span<const OpSpec> reduce_ops();
std::span<const OpSpec> like_ops();
std::span<const OpSpec> collective_ops();
std::span<const OpSpec> heads_ops();
std::span<const OpSpec> line_ops();
std::span<const OpSpec> placing_ops();
std::span<const OpSpec> scaling_ops();
std::span<const OpSpec> softmax_ops();
std::span<const OpSpec> ternary_ops();

}  // namespace opwright
