// The matrix engine bit for bit: element-wise add and multiply, and the sums of rows and columns that norms, softmax
// and reductions are made of. Addends are aligned to the largest exponent with ten fraction bits, products are built
// in fidelity phases, and a 16-bit destination register rounds after every step.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "device/sim/pack.h"
#include "dialect/ttnn/compute_config.h"

namespace opwright::sim {

// How the engine works for one call.
struct EngineMode {
  Fidelity fidelity = Fidelity::kHiFi4;
  Dst dst = Dst::kBf16;
};
constexpr EngineMode engine_mode(const ComputeConfig& config) { return {config.fidelity, dst_of(config.fp32_acc)}; }

namespace engine {

inline constexpr std::uint32_t kUpper5 = 0xFFF80000U;   // SrcA of the first phase: hidden bit and four more
inline constexpr std::uint32_t kUpper7 = 0xFFFE0000U;   // SrcB of the first phases
inline constexpr std::uint32_t kUpper10 = 0xFFFFC000U;  // what both phases see of SrcA
inline constexpr std::uint32_t kTf32 = 0xFFFFE000U;     // what a source register holds of a float32

inline float keep(float value, std::uint32_t mask) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & mask);
}
// What a source register holds: denormals are zero.
inline float source(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value) & kTf32;
  return (bits & 0x7F800000U) == 0 ? 0.0F : std::bit_cast<float>(bits);
}
inline int exponent(float value) { return static_cast<int>(std::bit_cast<std::uint32_t>(value) >> 23 & 0xFF); }
inline float power_of_two(int biased) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(biased < 1 ? 1 : (biased > 254 ? 254 : biased)) << 23);
}

// Multiples of 2^(exponent - 10), for a biased exponent: half away from zero for single addends, half up for sums of
// a group.
inline float align_away(float value, int biased) {
  const float scaled = value * power_of_two(264 - biased);
  const float half = scaled < 0 ? -0.5F : 0.5F;
  return static_cast<float>(static_cast<std::int32_t>(scaled + half)) * power_of_two(biased - 10);
}
inline float align_up(float value, int biased) {
  const float moved = value * power_of_two(264 - biased) + 0.5F;
  const auto whole = static_cast<std::int32_t>(moved);
  return static_cast<float>(whole - (static_cast<float>(whole) > moved ? 1 : 0)) * power_of_two(biased - 10);
}
// To bfloat16, half away from zero: how the engine writes a 16-bit destination.
inline float round_away(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  return (bits & 0x7F800000U) == 0x7F800000U ? value : std::bit_cast<float>((bits + 0x8000U) & 0xFFFF0000U);
}
// Values that fixed-point alignment cannot hold go the plain way.
inline bool unusual(int biased) { return biased >= 0xFF || biased < 12; }

}  // namespace engine

// Operands are values of source registers (engine::source).
inline float fpu_add(float a, float b, Dst dst) {
  const int ea = engine::exponent(a);
  const int eb = engine::exponent(b);
  const int largest = ea > eb ? ea : eb;
  const float sum = engine::unusual(largest) ? a + b : engine::align_away(a, largest) + engine::align_away(b, largest);
  return dst == Dst::kBf16 ? engine::round_away(sum) : sum;
}

// `a` is in SrcA, `b` in SrcB.
inline float fpu_mul(float a, float b, EngineMode mode) {
  const float ah = engine::keep(a, engine::kUpper5);
  const float al = engine::keep(a, engine::kUpper10) - ah;
  const float bh = engine::keep(b, engine::kUpper7);
  const float bl = b - bh;
  if (mode.dst == Dst::kFp32) {
    switch (mode.fidelity) {
      case Fidelity::kLoFi:
        return ah * bh;
      case Fidelity::kHiFi2:
        return (ah + al) * bh;
      case Fidelity::kHiFi3:
        return (ah + al) * bh + ah * bl;
      case Fidelity::kHiFi4:
        return (ah + al) * b;
    }
  }
  float sum = engine::round_away(ah * bh);
  if (mode.fidelity == Fidelity::kLoFi || engine::unusual(engine::exponent(sum))) return sum;
  sum = engine::round_away(sum + engine::align_up(al * bh, engine::exponent(sum)));
  if (mode.fidelity == Fidelity::kHiFi2) return sum;
  sum = engine::round_away(sum + engine::align_up(ah * bl, engine::exponent(sum)));
  if (mode.fidelity == Fidelity::kHiFi3) return sum;
  return engine::round_away(sum + engine::align_up(al * bl, engine::exponent(sum)));
}

// scaler x the sum of a row, tile after tile: the data in SrcB, the scaler in SrcA.
float fpu_row_sum(std::span<const float> row, float scaler, EngineMode mode);
// The same for sums that start from what the destination holds already.
float fpu_row_sum(std::span<const float> row, float scaler, EngineMode mode, float start);

// scaler x the sums of columns: `sums` gets one value for each of its columns out of `rows` rows that lie `stride`
// apart. The data is in SrcA, the scaler in SrcB.
void fpu_column_sums(const float* data, std::int64_t rows, std::int64_t stride, float scaler, EngineMode mode,
                     std::span<float> sums);

}  // namespace opwright::sim
