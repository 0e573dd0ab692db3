// Differences counted in units in the last place, as the existing test suites count them.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "compare/allclose.h"
#include "compare/numbers.h"
#include "model/tensor_spec.h"

namespace opwright {

// max |calculated - golden| / ulp(golden in calculated's format) <= threshold, arithmetic in golden's format.
// `shape` is for the index in the message; empty: flat. NaN and infinities must stand at the same places, and are not
// allowed at all unless `allow_nonfinite`.
Result<Check> comp_ulp(Numbers golden, Numbers calculated, double threshold, bool allow_nonfinite = false,
                       const Shape& shape = {});

// Distances in steps between bfloat16 patterns; across zero the two magnitudes add up. Equal NaN and infinities count
// as 0, other non-finite pairs are left out.
struct UlpStats {
  double max = 0.0;
  double mean = 0.0;
  double median = 0.0;  // the lower of two
  double std = 0.0;     // n - 1
  double p95 = 0.0;     // between ranks, linearly
  double p99 = 0.0;
  double exact_share = 1.0;
};
Result<UlpStats> bfloat16_ulp_stats(std::span<const float> expected, std::span<const float> actual);

}  // namespace opwright
