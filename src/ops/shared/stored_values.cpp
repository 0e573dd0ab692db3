#include "ops/shared/stored_values.h"

#include <algorithm>
#include <cmath>

#include "model/host_tensor.h"

namespace opwright {
namespace {

constexpr int kLowestExponent = -126;  // of normal float32 and bfloat16 numbers
constexpr int kGroup = 16;

double bfloat16(double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  const double unit = std::ldexp(1.0, std::max(std::ilogb(x), kLowestExponent) - 7);
  const double out = std::nearbyint(x / unit) * unit;
  return std::fabs(out) >= 0x1p128 ? std::copysign(INFINITY, x) : out;
}

void block_float(std::span<double> group, int bits) {
  int exponent = kLowestExponent - 1;
  for (const double x : group)
    if (std::fabs(x) >= 0x1p-126) exponent = std::max(exponent, std::isfinite(x) ? std::ilogb(x) : 128);
  const double unit = std::ldexp(1.0, exponent + 1 - bits);
  const double largest = std::ldexp(1.0, bits) - 1;
  for (double& x : group) {
    if (!std::isfinite(x)) continue;
    const double grid = std::ldexp(1.0, exponent - 23);
    const double size = std::fabs(x) < 0x1p-126 ? 0 : std::floor(std::fabs(x) / grid) * grid;
    const double kept = std::min(std::nearbyint(size / unit), largest) * unit;
    // What is smaller than any normal number is nothing, and nothing has no sign.
    x = kept < 0x1p-126 ? 0.0 : std::copysign(kept >= 0x1p128 ? INFINITY : kept, x);
  }
}

}  // namespace

void as_stored(std::span<double> row, DType dtype) {
  if (dtype == DType::kBfloat16)
    for (double& x : row) x = bfloat16(x);
  if (!is_block_float(dtype)) return;
  for (std::size_t first = 0; first < row.size(); first += kGroup)
    block_float(row.subspan(first, std::min<std::size_t>(kGroup, row.size() - first)),
                dtype == DType::kBfloat8B ? 7 : 3);
}

}  // namespace opwright
