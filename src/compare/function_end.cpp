#include "compare/function_end.h"

#include <cmath>
#include <limits>
#include <span>

namespace opwright {

bool at_an_end(const EachOf& function, double largest, const AtFunction& at) {
  // What is not in the format is NaN.
  const auto value_at = [&](double x) {
    function(std::span(&x, 1));
    return std::abs(x) <= largest ? x : std::numeric_limits<double>::quiet_NaN();
  };
  if (!std::isfinite(at.given)) return false;
  const double low = value_at(at.given - at.reach), high = value_at(at.given + at.reach);
  if (std::isnan(low) && std::isnan(high)) return false;
  if (!std::isnan(low) && !std::isnan(high) && !std::isnan(value_at(at.given))) return false;
  const bool overflows = std::abs(at.exact) > largest, stays = std::abs(at.actual) <= largest;
  if (!overflows || !stays) return true;
  constexpr double kOwnError = 0x1p-4;  // of the function
  const double least = std::fmin(std::abs(low), std::abs(high)) * (1 - kOwnError);
  return std::abs(at.actual) >= least && std::signbit(at.exact) == std::signbit(at.actual);
}

}  // namespace opwright
