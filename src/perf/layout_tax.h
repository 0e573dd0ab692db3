// What an iteration pays for having its tensors lie otherwise: operations that change the layout, and among them the
// round trips (sharded to interleaved and back, tilize and untilize, there and back between two dtypes or two
// shardings).
#pragma once

#include <string>
#include <vector>

#include "perf/positions.h"

namespace opwright::perf {

// Positions `away` and `back` undo one another; what stands between them asked for it.
struct RoundTrip {
  std::size_t away = 0, back = 0;
  std::string for_whom;  // classes between them; "" nothing: one operation, or none, would do
  double kernel_ns = 0;  // of both, an iteration
  double gaps_ns = 0;    // before both
};

struct LayoutTax {
  std::int64_t operations = 0;  // that change how values lie
  double kernel_ns = 0, gaps_ns = 0;
  std::vector<RoundTrip> trips;  // in the order of the iteration, none inside another
  double trips_kernel_ns() const;
};

// Found by shapes and memories of neighbours, at most `kLongestTrip` positions apart: a report has no data flow, so a
// trip is where the second operation gives back exactly what the first one took.
inline constexpr std::size_t kLongestTrip = 6;
LayoutTax layout_tax(const Recording& recording, const Reduced& reduced);

}  // namespace opwright::perf
