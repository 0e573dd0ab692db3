#include "device/sim/pack.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace opwright::sim {

namespace {

constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kExponent = 0x7F800000U;
constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::size_t kGroup = 16;

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
float value_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }

// Nearest with ties away from zero, keeping the upper bits of the significand; carries into the exponent.
std::uint32_t round_away(std::uint32_t bits, int dropped) {
  return (bits + (1U << (dropped - 1))) & ~((1U << dropped) - 1);
}

// In memory there are no denormals, no negative zero and no NaN.
std::uint32_t pack_bits_bfloat16(std::uint32_t bits, Dst from) {
  if ((bits & kExponent) == 0) return 0;
  if ((bits & kExponent) == kExponent) return (bits & kSign) | kInfinity;
  if (from == Dst::kBf16) return bits & 0xFFFF0000U;
  return round_away(bits, 16);
}

// What the block formats are made of: a sign, 8 exponent bits and 7 fraction bits, of which the usual path keeps 6.
std::uint32_t pack_bits_block(std::uint32_t bits, bool precise) {
  const std::uint32_t word = (bits & kExponent) == kExponent ? (bits & kSign) | kInfinity : bits;
  const std::uint32_t upper = precise ? word >> 16 : ((word >> 16) + 1) & ~1U;
  return (upper & 0x7F80) == 0 ? 0 : upper;
}

// Exponents between which the arithmetic below is exact; others are taken to the nearest of them first, which changes
// nothing that would have been kept.
constexpr std::uint32_t kSmallestShared = 24;
constexpr std::uint32_t kLargestShared = 0xFF - 24;

// One group of 16 in the block format with 7 magnitude bits; BFLOAT4_B keeps the upper 3 of them.
void pack_group(std::span<float> group, DType out, bool precise) {
  std::uint32_t words[kGroup];
  std::uint32_t shared = 0;
  for (std::size_t i = 0; i < group.size(); ++i) {
    words[i] = pack_bits_block(bits_of(group[i]), precise) << 16;
    shared = std::max(shared, words[i] & kExponent);
  }
  shared >>= 23;
  if (shared == 0) {
    std::fill(group.begin(), group.end(), 0.0F);
    return;
  }
  if (shared == 0xFF) {  // Inf leaves nothing beside it
    for (std::size_t i = 0; i < group.size(); ++i) {
      group[i] = (words[i] & kExponent) == kExponent ? value_of(words[i]) : 0.0F;
    }
    return;
  }
  const std::uint32_t middle = std::clamp(shared, kSmallestShared, kLargestShared);
  const int moved = static_cast<int>(shared) - static_cast<int>(middle);
  // 1.5 x 2^23 units: what is added rounds to them, and a term made larger by 2^-12 leaves ties away from zero.
  const float unit = value_of((middle - 6) << 23);
  const std::uint32_t magic = ((middle + 17) << 23) + (1U << 22);
  for (std::size_t i = 0; i < group.size(); ++i) {
    const float value = moved == 0 ? value_of(words[i]) : std::ldexp(value_of(words[i]), -moved);
    const std::uint32_t sum = bits_of(value_of(magic) + value * (1.0F + 0x1p-12F));
    std::int32_t magnitude = static_cast<std::int32_t>(sum - magic);
    magnitude = std::min(std::max(magnitude, -0x7F), 0x7F);
    if (out == DType::kBfloat4B) magnitude = magnitude / 16 * 16;
    group[i] = static_cast<float>(magnitude) * unit;
  }
  if (moved != 0) {
    for (float& value : group) {
      value = std::ldexp(value, moved);
      if ((bits_of(value) & kExponent) == 0) value = 0.0F;
    }
  }
}

}  // namespace

float round_to_dst(float value, Dst dst) {
  const std::uint32_t bits = bits_of(value);
  if (dst == Dst::kFp32 || (bits & kExponent) == kExponent) return value;
  return value_of((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000U);
}

float truncate_to_dst(float value, Dst dst) {
  return dst == Dst::kFp32 ? value : value_of(bits_of(value) & 0xFFFF0000U);
}

void round_to_dst(std::span<float> values, Dst dst) {
  for (float& value : values) value = round_to_dst(value, dst);
}

void truncate_to_dst(std::span<float> values, Dst dst) {
  for (float& value : values) value = truncate_to_dst(value, dst);
}

void pack(std::span<float> values, std::int64_t row_length, DType out, Dst from, bool precise) {
  if (out == DType::kBfloat16 || (out == DType::kFloat32 && from == Dst::kBf16)) {
    for (float& value : values) value = value_of(pack_bits_bfloat16(bits_of(value), from));
    return;
  }
  if ((out != DType::kBfloat8B && out != DType::kBfloat4B) || row_length <= 0) return;
  const auto row_size = static_cast<std::size_t>(row_length);
  for (std::size_t row = 0; row + row_size <= values.size(); row += row_size) {
    for (std::size_t column = 0; column < row_size; column += kGroup) {
      pack_group(values.subspan(row + column, std::min(kGroup, row_size - column)), out,
                 precise && out == DType::kBfloat8B);
    }
  }
}

}  // namespace opwright::sim
