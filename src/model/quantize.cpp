#include "model/quantize.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/parallel.h"
#include "base/vectorised.h"

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

// Encode and decode in one, for whole groups whose exponents are ordinary; false where the group needs the long way.
// The same steps as encode_block_float without a branch: fillings of hundreds of millions of elements pass through.
[[gnu::always_inline]] inline bool round_group_loop(float* values, int bits) {
  std::uint32_t words[kBlockFloatGroup];
  std::uint32_t shared = 0;
  for (int i = 0; i < kBlockFloatGroup; ++i) {
    words[i] = std::bit_cast<std::uint32_t>(values[i]);
    shared = std::max(shared, words[i] >> 23 & 0xFF);
  }
  if (shared == 0xFF || shared <= static_cast<std::uint32_t>(bits)) return false;
  const auto cut = static_cast<std::uint32_t>(kSignificandBits - bits);
  const std::uint32_t largest = (1U << bits) - 1;
  const std::uint32_t below_half = (1U << (cut - 1)) - 1;
  const float unit = std::bit_cast<float>((shared + 1 - static_cast<std::uint32_t>(bits)) << 23);
  for (int i = 0; i < kBlockFloatGroup; ++i) {
    const std::uint32_t exponent = words[i] >> 23 & 0xFF;
    const std::uint32_t shift = std::min<std::uint32_t>(shared - exponent, 31);
    const std::uint32_t significand = (exponent == 0 ? 0 : (1U << 23 | (words[i] & kFraction))) >> shift;
    const std::uint32_t rounded = (significand + below_half + (significand >> cut & 1)) >> cut;
    const float magnitude = static_cast<float>(static_cast<std::int32_t>(std::min(rounded, largest))) * unit;
    const std::uint32_t sign = rounded == 0 ? 0 : words[i] & 0x80000000U;
    values[i] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
  return true;
}

void round_group_slowly(std::span<float> values, DType dtype) {
  decode_block_float(encode_block_float(values, dtype), dtype, values);
}

[[gnu::always_inline]] inline void round_row_loop(float* row, std::size_t length, DType dtype) {
  const int bits = magnitude_bits(dtype);
  std::size_t column = 0;
  for (; column + kBlockFloatGroup <= length; column += kBlockFloatGroup)
    if (!round_group_loop(row + column, bits)) round_group_slowly({row + column, kBlockFloatGroup}, dtype);
  if (column < length) round_group_slowly({row + column, length - column}, dtype);
}
OPWRIGHT_VECTORISED(void, round_row, (float* row, std::size_t length, DType dtype), (row, length, dtype))

[[gnu::always_inline]] inline void round_bfloat16s_loop(float* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(values[i]);
    const bool nan = (bits & 0x7FFFFFFF) > 0x7F800000;
    const std::uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000;
    values[i] = std::bit_cast<float>(nan ? 0x7FC00000 : rounded);
  }
}
OPWRIGHT_VECTORISED(void, round_bfloat16s, (float* values, std::size_t count), (values, count))

// Elements that one thread takes at a time.
constexpr std::int64_t kPart = 1 << 16;

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
  const auto count = static_cast<std::int64_t>(values.size());
  if (dtype == DType::kBfloat16) {
    parallel_for(0, count, kPart, [&](std::int64_t first, std::int64_t last) {
      round_bfloat16s(values.data() + first, static_cast<std::size_t>(last - first));
    });
    return;
  }
  if (!is_block_float(dtype) || row_length <= 0) return;
  parallel_for(0, count / row_length, std::max<std::int64_t>(1, kPart / row_length),
               [&](std::int64_t first, std::int64_t last) {
                 for (std::int64_t row = first; row < last; ++row)
                   round_row(values.data() + row * row_length, static_cast<std::size_t>(row_length), dtype);
               });
}

void quantize(HostTensor& tensor) {
  const DType dtype = tensor.spec.dtype.value;
  if (!is_integer(dtype)) {
    quantize(tensor.floats, row_length(tensor.spec.shape), dtype);
    return;
  }
  const int unused = 64 - info(dtype).bits;
  const bool is_signed = info(dtype).kind == DTypeKind::kSigned;
  for (std::int64_t& value : tensor.ints) {
    const auto high = static_cast<std::uint64_t>(value) << unused;
    value = is_signed ? static_cast<std::int64_t>(high) >> unused : static_cast<std::int64_t>(high >> unused);
  }
}

}  // namespace opwright
