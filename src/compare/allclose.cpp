#include "compare/allclose.h"

#include <algorithm>
#include <cmath>

namespace opwright {

bool all_close(Numbers golden, Numbers calculated, double rtol, double atol) {
  const NumberKind kind = golden.kind;
  for (std::size_t i = 0; i < golden.size(); ++i) {
    const double g = golden.at(i);
    const double c = calculated.at(i);
    if (g == c) continue;
    const double error = rounded(kind, std::abs(g - c));
    const double allowed = rounded(kind, atol + std::abs(rounded(kind, rtol * c)));
    if (!std::isfinite(error) || !(error <= allowed)) return false;
  }
  return true;
}

bool all_equal(Numbers golden, Numbers calculated) {
  if (golden.kind == NumberKind::kInt64 && calculated.kind == NumberKind::kInt64) {
    return std::ranges::equal(golden.ints, calculated.ints);
  }
  if (golden.size() != calculated.size()) return false;
  for (std::size_t i = 0; i < golden.size(); ++i) {
    if (golden.at(i) != calculated.at(i)) return false;
  }
  return true;
}

}  // namespace opwright
