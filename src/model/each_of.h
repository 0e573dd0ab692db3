// A function of one number, applied to many at once: a call for each of millions of elements costs more than most
// functions do.
#pragma once

#include <functional>
#include <span>

namespace opwright {

// Puts the result in the place of each value. Empty: there is none.
using EachOf = std::function<void(std::span<double> values)>;

}  // namespace opwright
