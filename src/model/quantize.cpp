#include "model/quantize.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace opwright {

namespace {

constexpr std::uint32_t kFraction = 0x7FFFFF;
constexpr int kSignificandBits = 24;

std::uint32_t exponent_of(std::uint32_t bits) { return bits >> 23 & 0xFF; }

// q * 2^(exponent - 126 - bits), put together from its bits so that an exponent of 255 gives Inf and NaN, as it does
// on the device, and results below the smallest normal number are zero.
float decode_element(std::uint32_t datum, std::uint32_t exponent, int bits) {
  const std::uint32_t sign = datum >> bits & 1;
  std::uint32_t magnitude = datum & ((1U << bits) - 1);
  if (magnitude == 0) return 0.0F;
  const auto shift = static_cast<std::uint32_t>(bits - std::bit_width(magnitude));
  if (shift >= exponent) return 0.0F;
  magnitude <<= shift;
  const std::uint32_t fraction = (magnitude & ((1U << (bits - 1)) - 1)) << (kSignificandBits - bits);
  return std::bit_cast<float>(sign << 31 | (exponent - shift) << 23 | fraction);
}

}  // namespace

std::uint16_t bfloat16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return 0x7FC0;
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

float from_bfloat16_bits(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

float round_bfloat16(float value) { return from_bfloat16_bits(bfloat16_bits(value)); }

BlockFloatGroup encode_block_float(std::span<const float> values, DType dtype) {
  const int bits = magnitude_bits(dtype);
  const std::uint32_t largest = (1U << bits) - 1;
  std::uint32_t shared = 0;
  for (float value : values) shared = std::max(shared, exponent_of(std::bit_cast<std::uint32_t>(value)));

  BlockFloatGroup group;
  group.exponent = static_cast<std::uint8_t>(shared);
  const int cut = kSignificandBits - bits;
  const std::uint32_t half = 1U << (cut - 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto word = std::bit_cast<std::uint32_t>(values[i]);
    const std::uint32_t exponent = exponent_of(word);
    if (exponent == 0 || shared - exponent >= kSignificandBits) continue;
    const std::uint32_t significand = (1U << 23 | (word & kFraction)) >> (shared - exponent);
    const std::uint32_t rest = significand & ((1U << cut) - 1);
    std::uint32_t magnitude = significand >> cut;
    if (rest > half || (rest == half && (magnitude & 1) != 0)) ++magnitude;
    magnitude = std::min(magnitude, largest);
    const std::uint32_t sign = magnitude == 0 ? 0 : word >> 31;
    group.data[i] = static_cast<std::uint8_t>(sign << bits | magnitude);
  }
  return group;
}

void decode_block_float(const BlockFloatGroup& group, DType dtype, std::span<float> values) {
  const int bits = magnitude_bits(dtype);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = decode_element(group.data[i], group.exponent, bits);
}

void quantize(std::span<float> values, std::int64_t row_length, DType dtype) {
  if (dtype == DType::kBfloat16) {
    for (float& value : values) value = round_bfloat16(value);
    return;
  }
  if (!is_block_float(dtype) || row_length <= 0) return;
  const auto row_size = static_cast<std::size_t>(row_length);
  for (std::size_t row = 0; row + row_size <= values.size(); row += row_size) {
    for (std::size_t column = 0; column < row_size; column += kBlockFloatGroup) {
      const std::size_t count = std::min<std::size_t>(kBlockFloatGroup, row_size - column);
      const std::span<float> part = values.subspan(row + column, count);
      decode_block_float(encode_block_float(part, dtype), dtype, part);
    }
  }
}

void quantize(HostTensor& tensor) {
  const DType dtype = tensor.spec.dtype.value;
  if (!is_integer(dtype)) {
    quantize(tensor.floats, row_length(tensor.spec.shape), dtype);
    return;
  }
  for (std::int64_t& value : tensor.ints) {
    switch (dtype) {
      case DType::kInt32:
        value = static_cast<std::int32_t>(value);
        break;
      case DType::kUint32:
        value = static_cast<std::uint32_t>(value);
        break;
      case DType::kUint16:
        value = static_cast<std::uint16_t>(value);
        break;
      default:
        value = static_cast<std::uint8_t>(value);
        break;
    }
  }
}

}  // namespace opwright
