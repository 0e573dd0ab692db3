// How the host turns numbers into what a dtype can hold: rounding to bfloat16, block floats with a shared exponent for
// each 16 elements of a row, integers. The device's own packer rounds differently: that is the device's business.
#pragma once

#include <cstdint>
#include <span>

#include "model/host_tensor.h"

namespace opwright {

// Round to nearest, ties to even; every NaN becomes 0x7FC0. Denormals are kept.
std::uint16_t bfloat16_bits(float value);
float from_bfloat16_bits(std::uint16_t bits);
float round_bfloat16(float value);

inline constexpr std::int64_t kBlockFloatGroup = 16;

// Magnitude bits of a block-float element: 7 (BFLOAT8_B) or 3 (BFLOAT4_B).
constexpr int magnitude_bits(DType dtype) { return dtype == DType::kBfloat8B ? 7 : 3; }

// One group of at most 16 elements: the shared exponent, and for each element its sign and magnitude
// (sign << magnitude_bits | magnitude).
struct BlockFloatGroup {
  std::uint8_t exponent = 0;
  std::uint8_t data[kBlockFloatGroup] = {};
};
BlockFloatGroup encode_block_float(std::span<const float> values, DType dtype);
void decode_block_float(const BlockFloatGroup& group, DType dtype, std::span<float> values);

// Replaces rows of `row_length` floats by what `dtype` holds of them. Float dtypes only.
void quantize(std::span<float> values, std::int64_t row_length, DType dtype);

// Replaces every value by what spec.dtype holds of it. Integers that the dtype cannot hold wrap, as a C cast does.
void quantize(HostTensor& tensor);

}  // namespace opwright
