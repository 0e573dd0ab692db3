// PCC, errors and ULP of two float32 arrays in one pass: the fast road, for data of which both sides are float32.
#pragma once

#include <cstdint>
#include <span>

namespace opwright {

struct FloatFigures {
  std::uint64_t count = 0;      // pairs compared: both finite
  std::uint64_t nonfinite = 0;  // pairs left out
  double pcc = 0.0;             // NaN where a side has no spread
  double max_abs = 0.0;
  double rms = 0.0;      // of the error
  float ulp_max = 0.0F;  // float32 ULP of the expected value; infinite where that is 0 and the actual is far
  double ulp_mean = 0.0;
};

// Of the shorter length of the two.
FloatFigures compare_floats(std::span<const float> expected, std::span<const float> actual);

}  // namespace opwright
