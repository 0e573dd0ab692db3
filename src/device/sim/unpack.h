// What a value becomes on its way from memory to the registers of the matrix engine.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

#include "model/tensor_spec.h"

namespace opwright::sim {

// Source registers hold 10 fraction bits (TF32): the rest of a float32 is cut off. Denormals are zero.
inline float unpack_to_source(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value) & 0xFFFFE000U;
  return (bits & 0x7F800000U) == 0 ? 0.0F : std::bit_cast<float>(bits);
}

// The other dtypes fit into a source register as they are, but for denormals.
inline float flush_denormal(float value) {
  return (std::bit_cast<std::uint32_t>(value) & 0x7F800000U) == 0 ? 0.0F : value;
}

inline void unpack_to_source(std::span<float> values, DType dtype) {
  if (dtype == DType::kFloat32) {
    for (float& value : values) value = unpack_to_source(value);
  } else {
    for (float& value : values) value = flush_denormal(value);
  }
}

}  // namespace opwright::sim
