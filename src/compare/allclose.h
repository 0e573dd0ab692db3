// The element-by-element comparisons that the PCC of the existing test suites falls back to.
#pragma once

#include "compare/numbers.h"

namespace opwright {

// |golden - calculated| <= atol + rtol x |calculated| everywhere, on values of one format and size; arithmetic in that
// format. NaN is close to nothing; empty values are close.
bool all_close(Numbers golden, Numbers calculated, double rtol, double atol);
// Whether all values are equal. NaN is equal to nothing.
bool all_equal(Numbers golden, Numbers calculated);

}  // namespace opwright
