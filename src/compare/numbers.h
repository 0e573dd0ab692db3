// Values as a metric sees them: how many, and of which number format.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "model/host_tensor.h"

namespace opwright {

enum class NumberKind : std::uint8_t { kFloat32, kBfloat16, kFloat64, kInt64 };

// A view. bfloat16 values are given as the float32 values that they are.
struct Numbers {
  NumberKind kind = NumberKind::kFloat32;
  std::span<const float> floats;       // kFloat32, kBfloat16
  std::span<const double> doubles;     // kFloat64
  std::span<const std::int64_t> ints;  // kInt64

  std::size_t size() const;
  double at(std::size_t i) const;
};
Numbers float32_numbers(std::span<const float> values);
Numbers bfloat16_numbers(std::span<const float> values);
Numbers float64_numbers(std::span<const double> values);
Numbers int64_numbers(std::span<const std::int64_t> values);

// Numbers that had to be converted own their values.
struct OwnedNumbers {
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<std::int64_t> ints;
};
// `values` as `kind`, in `storage` where that changes them: nearest even to a shorter float, towards zero to integers.
Numbers converted(Numbers values, NumberKind kind, OwnedNumbers& storage);

inline float round_to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return value;
  return std::bit_cast<float>((bits + 0x7FFFu + ((bits >> 16) & 1u)) & 0xFFFF0000u);
}
// The value that arithmetic in `kind` would store; integers compute in float32, as torch does with them.
double rounded(NumberKind kind, double value);

}  // namespace opwright
