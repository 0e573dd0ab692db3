// Values of a chunk, many at once: widened, their magnitudes, whether all are numbers of the format.
#pragma once

#include <cstddef>
#include <cstdint>

namespace opwright {

void widen(const float* from, std::size_t n, double* to);
void widen(const std::int64_t* from, std::size_t n, double* to);
// Magnitudes, none below `least`.
void sizes(const double* from, std::size_t n, double least, double* to);
// Whether all are finite and none beyond `largest`.
bool ordinary(const double* exact, const double* actual, std::size_t n, double largest);

}  // namespace opwright
