#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "device/sim/gemm_kernel.h"

#define OPWRIGHT_TARGET

namespace opwright::sim::engine {

namespace {

// Four values at a time, in the compiler's own vectors: right on every machine. A product and a sum in two roundings do
// as well as one: what the first drops lies far below the unit of the second.
struct Lanes {
  static constexpr std::int64_t kLanes = 4;
  static constexpr std::int64_t kVectors = 4;
  using Floats = float __attribute__((vector_size(16)));
  using Ints = std::int32_t __attribute__((vector_size(16)));
  using Bytes = std::uint8_t __attribute__((vector_size(16)));

  static Bytes bytes(int value) { return Bytes{} + static_cast<std::uint8_t>(value); }
  static Bytes spread_bytes(std::uint32_t word) { return std::bit_cast<Bytes>(ints(static_cast<std::int32_t>(word))); }
  static Bytes load_bytes(const std::uint32_t* at) { return loaded<Bytes>(at); }
  static Ints with_byte(Ints words, Ints byte, std::int64_t index) {
    return words | byte << static_cast<int>(8 * index);
  }
  static Bytes add_bytes(Bytes a, Bytes b) { return a + b; }
  static Bytes max_bytes(Bytes a, Bytes b) {
    using Signed = std::int8_t __attribute__((vector_size(16)));
    return std::bit_cast<Signed>(a) > std::bit_cast<Signed>(b) ? a : b;
  }
  static Bytes max_unsigned(Bytes a, Bytes b) { return a > b ? a : b; }
  // A byte of each lane where a float has its exponent.
  static Ints power(Bytes a, std::int64_t index) {
    return (std::bit_cast<Ints>(a) >> static_cast<int>(8 * index) & 0xFF) << 23;
  }
  static Floats noisy_magic(Bytes a, std::int64_t index) { return as_magic(power(a, index)); }
  static Ints larger_power(Ints a, Ints b) {
    a &= 0x7F800000;
    b &= 0x7F800000;
    return a > b ? a : b;
  }
  static Floats as_magic(Ints power) { return as_floats((power & 0x7F800000) | 1 << 22); }
  static Ints ints(int value) { return Ints{} + value; }
  static Ints add(Ints a, Ints b) { return a + b; }
  static Ints sub(Ints a, Ints b) { return a - b; }
  static Ints max(Ints a, Ints b) { return a > b ? a : b; }
  static int largest(Ints a) { return std::max({a[0], a[1], a[2], a[3]}); }
  static Ints bit_and(Ints a, Ints b) { return a & b; }
  static Ints as_ints(Floats a) { return std::bit_cast<Ints>(a); }
  static Floats as_floats(Ints a) { return std::bit_cast<Floats>(a); }
  static Floats without_denormals(Floats a) {
    const Ints bits = as_ints(a);
    return as_floats((bits & 0x7F800000) != 0 ? bits : Ints{});
  }
  // The biased exponent; of a zero, one that is small whatever it is compared with.
  static Ints exponent_or_little(Ints a) {
    const Ints exponent = (a & INT32_MAX) >> 23;
    return exponent != 0 ? exponent : ints(-1000);
  }
  // a0 b0 a1 b1 …: the first and the second half of it.
  static Floats first_pairs(Floats a, Floats b) { return Floats{a[0], b[0], a[1], b[1]}; }
  static Floats last_pairs(Floats a, Floats b) { return Floats{a[2], b[2], a[3], b[3]}; }
  static Ints floor_to_ints(Floats a) {
    Ints result{};
    for (int i = 0; i < kLanes; ++i) result[i] = static_cast<std::int32_t>(std::floor(a[i]));
    return result;
  }
  static Ints away_to_ints(Floats a, Floats b) {
    const Floats value = a * b;
    Ints result{};
    for (int i = 0; i < kLanes; ++i) result[i] = static_cast<std::int32_t>(std::round(value[i]));
    return result;
  }
  static Floats away_to_floats(Ints a) {
    Floats result{};
    for (int i = 0; i < kLanes; ++i) result[i] = away_to_float(a[i]);
    return result;
  }
  static float away_to_float(std::int32_t a) {
    const std::int64_t magnitude = std::abs(std::int64_t{a});
    // Above 24 bits the conversion rounds: a one below the last bit makes of a tie what lies above it.
    const float value =
        magnitude < (1 << 24) ? static_cast<float>(magnitude) : static_cast<float>(2 * magnitude + 1) * 0.5F;
    return std::copysign(value, static_cast<float>(a));
  }
  static Floats load(const float* at) { return loaded<Floats>(at); }
  static Floats load_once(const float* at) { return load(at); }
  static Floats spread(const float* at) { return floats(*at); }
  static void store(float* at, Floats a) { std::memcpy(at, &a, sizeof(a)); }
  static Floats to_bfloat16(Floats a) {
    const Ints bits = as_ints(a);
    return as_floats((bits + 0x7FFF + (bits >> 16 & 1)) & ~0xFFFF);
  }
  static Floats floats(float value) { return Floats{} + value; }
  static Floats add(Floats a, Floats b) { return a + b; }
  static Floats sub(Floats a, Floats b) { return a - b; }
  static Floats mul(Floats a, Floats b) { return a * b; }
  static Floats multiply_add(Floats a, Floats b, Floats c) { return a * b + c; }

 private:
  template <class Vector>
  static Vector loaded(const void* at) {
    Vector result;
    std::memcpy(&result, at, sizeof(result));
    return result;
  }
};

#include "device/sim/gemm_lanes.inc"
#include "device/sim/gemm_split.inc"

}  // namespace

const Kernel& portable_kernel() {
  static const Kernel kernel{kRows, kColumns, kWords, Lanes::kLanes, run, split_in0, split_in1, fold_strip};
  return kernel;
}

const Kernel& best_kernel() {
  static const Kernel* const best = avx512_kernel() != nullptr ? avx512_kernel()
                                    : avx2_kernel() != nullptr ? avx2_kernel()
                                                               : &portable_kernel();
  return *best;
}

}  // namespace opwright::sim::engine
