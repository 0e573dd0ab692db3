// A call that was recorded in C++ (era 1), as Python makes it: bound to the names of Python's parameters, with values
// in the form that Python takes.
#pragma once

#include "model/bound_call.h"
#include "model/op_config.h"

namespace opwright {

// Refuses operators that nobody here knows, and what bind() refuses.
Checked<BoundCall> python_call(const OpConfig& config);

}  // namespace opwright
