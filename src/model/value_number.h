// A value as a number: texts of the traces stand for numbers now and then, "0", "1e-05", "inf".
#pragma once

#include <optional>

#include "model/value.h"

namespace opwright {

// Nothing where it is none; a bool is none either.
std::optional<double> number_of(const Value& value);

}  // namespace opwright
