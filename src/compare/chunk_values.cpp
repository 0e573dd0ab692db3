#include "compare/chunk_values.h"

#include <cmath>

#include "base/vectorised.h"

namespace opwright {
namespace {

[[gnu::always_inline]] inline void widen_floats_loop(const float* from, std::size_t n, double* to) {
  for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<double>(from[i]);
}
OPWRIGHT_VECTORISED(void, widen_floats, (const float* from, std::size_t n, double* to), (from, n, to))

[[gnu::always_inline]] inline void widen_ints_loop(const std::int64_t* from, std::size_t n, double* to) {
  for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<double>(from[i]);
}
OPWRIGHT_VECTORISED(void, widen_ints, (const std::int64_t* from, std::size_t n, double* to), (from, n, to))

[[gnu::always_inline]] inline void all_sizes_loop(const double* from, std::size_t n, double least, double* to) {
  for (std::size_t i = 0; i < n; ++i) {
    const double size = std::abs(from[i]);
    to[i] = size > least ? size : least;
  }
}
OPWRIGHT_VECTORISED(void, all_sizes, (const double* from, std::size_t n, double least, double* to),
                    (from, n, least, to))

// NaN fails every comparison.
[[gnu::always_inline]] inline bool all_ordinary_loop(const double* exact, const double* actual, std::size_t n,
                                                     double largest) {
  std::size_t ordinary = 0;
  for (std::size_t i = 0; i < n; ++i) {
    ordinary += static_cast<std::size_t>(std::abs(exact[i]) <= largest) &
                static_cast<std::size_t>(std::abs(actual[i]) <= largest);
  }
  return ordinary == n;
}
OPWRIGHT_VECTORISED(bool, all_ordinary, (const double* exact, const double* actual, std::size_t n, double largest),
                    (exact, actual, n, largest))

}  // namespace

void widen(const float* from, std::size_t n, double* to) { widen_floats(from, n, to); }
void widen(const std::int64_t* from, std::size_t n, double* to) { widen_ints(from, n, to); }
void sizes(const double* from, std::size_t n, double least, double* to) { all_sizes(from, n, least, to); }
bool ordinary(const double* exact, const double* actual, std::size_t n, double largest) {
  return all_ordinary(exact, actual, n, largest);
}

}  // namespace opwright
