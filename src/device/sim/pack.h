// What a value becomes on its way from the destination register to memory: the device's own rounding, which differs
// from the host's (model/quantize.h).
#pragma once

#include <cstdint>
#include <span>

#include "model/tensor_spec.h"

namespace opwright::sim {

// The format of the destination register: 16-bit, or 32-bit with fp32_dest_acc_en.
enum class Dst : std::uint8_t { kBf16, kFp32 };

constexpr Dst dst_of(bool fp32_acc) { return fp32_acc ? Dst::kFp32 : Dst::kBf16; }

// Replaces rows of `row_length` values in the destination register by what memory of dtype `out` holds of them. Block
// floats share an exponent for each 16 elements of a row; `precise` rounds to BFLOAT8_B once instead of twice, as
// typecast asks for. Float dtypes only.
void pack(std::span<float> values, std::int64_t row_length, DType out, Dst from, bool precise = false);

// Replaces values by what a destination register of that format holds of them when the matrix engine writes them
// (nearest, ties to even), or when a vector instruction stores them without rounding (truncation).
void round_to_dst(std::span<float> values, Dst dst);
void truncate_to_dst(std::span<float> values, Dst dst);
float round_to_dst(float value, Dst dst);
float truncate_to_dst(float value, Dst dst);

}  // namespace opwright::sim
