// Where a fused function ends: a root at 0, an exponential near the largest number of a format.
#pragma once

#include "model/each_of.h"

namespace opwright {

struct AtFunction {
  double given = 0;  // exact argument
  double reach = 0;  // how far the actual argument may be from it
  double exact = 0, actual = 0;
};

// Whether the function begins or ends to have values up to `largest` within the reach of its argument. Then the actual
// may be on the other side, but no smaller than the function leads to.
bool at_an_end(const EachOf& function, double largest, const AtFunction& at);

}  // namespace opwright
