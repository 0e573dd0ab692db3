// Kernels that need no file of their own.
#pragma once

#include <span>
#include <string_view>

#include "device/sim/kernel.h"

namespace opwright::sim {

// The kernel of an operator that is called like a function of one of the engines: ttnn.exp, ttnn.add, ttnn.add_ (in
// place), ttnn.sum. Null where no engine has a function of that name, or where it takes parameters of its own.
const Kernel* engine_kernel(std::string_view op);

// The kernels that move a tensor as it is.
std::span<const Kernel> move_kernels();

// The kernels that write one value everywhere.
std::span<const Kernel> fill_kernels();

// Rows of one file each: heads, lines of a dimension, elements in other places, larger images, three operands.
std::span<const Kernel> head_kernels();
std::span<const Kernel> line_kernels();
std::span<const Kernel> placing_kernels();
std::span<const Kernel> scaling_kernels();
std::span<const Kernel> ternary_kernels();

// The kernel of an exchange between chips; null where it is none.
const Kernel* collective_kernel(std::string_view op);

}  // namespace opwright::sim
