#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "device/sim/gemm_kernel.h"

#define OPWRIGHT_TARGET

namespace opwright::sim::engine {

namespace {

// One value at a time: right on every machine. A product and a sum in two roundings do as well as one: what the first
// drops lies far below the unit of the second.
struct Lanes {
  static constexpr std::int64_t kLanes = 1;
  static constexpr std::int64_t kColumns = 16;
  using Floats = float;
  using Ints = std::int32_t;
  struct Bytes {
    std::int8_t at[kColumns];
  };

  static Bytes bytes(int value) {
    Bytes result;
    for (std::int8_t& byte : result.at) byte = static_cast<std::int8_t>(value);
    return result;
  }
  static Bytes four_bytes(const std::int8_t* at) { return bytes(*at); }
  static Bytes load(const std::int8_t* at) {
    Bytes result;
    std::memcpy(result.at, at, sizeof(result.at));
    return result;
  }
  static Bytes add_bytes(Bytes a, Bytes b) {
    for (int i = 0; i < kColumns; ++i) a.at[i] = static_cast<std::int8_t>(a.at[i] + b.at[i]);
    return a;
  }
  static Bytes max_bytes(Bytes a, Bytes b) {
    for (int i = 0; i < kColumns; ++i) a.at[i] = a.at[i] < b.at[i] ? b.at[i] : a.at[i];
    return a;
  }
  static void store(std::uint8_t* at, const Bytes& a) { std::memcpy(at, a.at, sizeof(a.at)); }
  static Ints widen(const std::uint8_t* at) { return *at; }
  static Ints ints(int value) { return value; }
  static Ints add(Ints a, Ints b) { return a + b; }
  static Ints sub(Ints a, Ints b) { return a - b; }
  static Ints max(Ints a, Ints b) { return a < b ? b : a; }
  static Ints bit_and(Ints a, Ints b) { return a & b; }
  static Ints bit_or(Ints a, Ints b) { return a | b; }
  static Ints shift_left(Ints a) { return a * (1 << 23); }
  static Ints as_ints(Floats a) { return std::bit_cast<std::int32_t>(a); }
  static Floats as_floats(Ints a) { return std::bit_cast<float>(a); }
  static Ints floor_to_ints(Floats a) { return static_cast<std::int32_t>(std::floor(a)); }
  static Ints away_to_ints(Floats a, Floats b) { return static_cast<std::int32_t>(std::round(a * b)); }
  static Floats away_to_floats(Ints a) {
    const std::int64_t magnitude = std::abs(std::int64_t{a});
    // Above 24 bits the conversion rounds: a one below the last bit makes of a tie what lies above it.
    const float value =
        magnitude < (1 << 24) ? static_cast<float>(magnitude) : static_cast<float>(2 * magnitude + 1) * 0.5F;
    return std::copysign(value, static_cast<float>(a));
  }
  static Floats load(const float* at) { return *at; }
  static void store(float* at, Floats a) { *at = a; }
  static Floats floats(float value) { return value; }
  static Floats add(Floats a, Floats b) { return a + b; }
  static Floats sub(Floats a, Floats b) { return a - b; }
  static Floats mul(Floats a, Floats b) { return a * b; }
  static Floats multiply_add(Floats a, Floats b, Floats c) { return a * b + c; }
};

#include "device/sim/gemm_lanes.inc"

}  // namespace

const Kernel& portable_kernel() {
  static const Kernel kernel{kRows, kColumns, run, split, accumulate};
  return kernel;
}

const Kernel& best_kernel() {
  static const Kernel* const best = avx512_kernel() != nullptr ? avx512_kernel()
                                    : avx2_kernel() != nullptr ? avx2_kernel()
                                                               : &portable_kernel();
  return *best;
}

}  // namespace opwright::sim::engine
