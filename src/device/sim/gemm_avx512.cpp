#include <algorithm>
#include <bit>
#include <cstring>

#include "device/sim/gemm_kernel.h"

#if defined(__x86_64__)
// The compiler's own header starts "undefined" vectors from themselves, and the compiler then warns of it.
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

#define OPWRIGHT_TARGET __attribute__((target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma")))

namespace opwright::sim::engine {

namespace {

struct Lanes {
  static constexpr std::int64_t kLanes = 16;
  static constexpr std::int64_t kColumns = 64;
  using Floats = __m512;
  using Ints = __m512i;
  using Bytes = __m512i;

  OPWRIGHT_TARGET static Bytes bytes(int value) { return _mm512_set1_epi8(static_cast<char>(value)); }
  OPWRIGHT_TARGET static Bytes four_bytes(const std::int8_t* at) {
    std::int32_t word = 0;
    std::memcpy(&word, at, sizeof(word));
    return _mm512_set1_epi32(word);
  }
  OPWRIGHT_TARGET static Bytes load(const std::int8_t* at) { return _mm512_loadu_si512(at); }
  OPWRIGHT_TARGET static Bytes add_bytes(Bytes a, Bytes b) { return _mm512_add_epi8(a, b); }
  OPWRIGHT_TARGET static Bytes max_bytes(Bytes a, Bytes b) { return _mm512_max_epi8(a, b); }
  OPWRIGHT_TARGET static void store(std::uint8_t* at, Bytes a) { _mm512_storeu_si512(at, a); }
  OPWRIGHT_TARGET static Ints widen(const std::uint8_t* at) {
    return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
  }
  OPWRIGHT_TARGET static Ints ints(int value) { return _mm512_set1_epi32(value); }
  OPWRIGHT_TARGET static Ints add(Ints a, Ints b) { return _mm512_add_epi32(a, b); }
  OPWRIGHT_TARGET static Ints sub(Ints a, Ints b) { return _mm512_sub_epi32(a, b); }
  OPWRIGHT_TARGET static Ints max(Ints a, Ints b) { return _mm512_max_epi32(a, b); }
  OPWRIGHT_TARGET static Ints bit_and(Ints a, Ints b) { return _mm512_and_si512(a, b); }
  OPWRIGHT_TARGET static Ints bit_or(Ints a, Ints b) { return _mm512_or_si512(a, b); }
  OPWRIGHT_TARGET static Ints shift_left(Ints a) { return _mm512_slli_epi32(a, 23); }
  OPWRIGHT_TARGET static Ints as_ints(Floats a) { return _mm512_castps_si512(a); }
  OPWRIGHT_TARGET static Floats as_floats(Ints a) { return _mm512_castsi512_ps(a); }
  OPWRIGHT_TARGET static Ints floor_to_ints(Floats a) {
    return _mm512_cvt_roundps_epi32(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  }
  // a * b to nearest, ties away from zero: half a unit outwards, then cut off.
  OPWRIGHT_TARGET static Ints away_to_ints(Floats a, Floats b) {
    const __m512i sign = _mm512_set1_epi32(INT32_MIN);
    const __m512i half = _mm512_castps_si512(_mm512_set1_ps(0.5F));
    constexpr int kSelect = 0xCA;  // sign ? a : half
    const __m512i outwards = _mm512_ternarylogic_epi32(sign, _mm512_castps_si512(a), half, kSelect);
    return _mm512_cvttps_epi32(
        _mm512_fmadd_round_ps(a, b, _mm512_castsi512_ps(outwards), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
  }
  // Cut off to 24 bits; where what is left is half a unit or more, twice that is one more unit.
  OPWRIGHT_TARGET static Floats away_to_floats(Ints a) {
    const __m512 cut = _mm512_cvt_roundepi32_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    const __m512 left = _mm512_cvtepi32_ps(_mm512_sub_epi32(a, _mm512_cvttps_epi32(cut)));
    return _mm512_fmadd_round_ps(left, _mm512_set1_ps(2.0F), cut, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
  }
  OPWRIGHT_TARGET static Floats load(const float* at) { return _mm512_loadu_ps(at); }
  OPWRIGHT_TARGET static void store(float* at, Floats a) { _mm512_storeu_ps(at, a); }
  OPWRIGHT_TARGET static Floats floats(float value) { return _mm512_set1_ps(value); }
  OPWRIGHT_TARGET static Floats add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
  OPWRIGHT_TARGET static Floats sub(Floats a, Floats b) { return _mm512_sub_ps(a, b); }
  OPWRIGHT_TARGET static Floats mul(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  OPWRIGHT_TARGET static Floats multiply_add(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
};

#include "device/sim/gemm_lanes.inc"

}  // namespace

const Kernel* avx512_kernel() {
  static const Kernel kernel{kRows, kColumns, run, split, accumulate};
  static const bool there = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                            __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
  return there ? &kernel : nullptr;
}

}  // namespace opwright::sim::engine

#else
namespace opwright::sim::engine {
const Kernel* avx512_kernel() { return nullptr; }
}  // namespace opwright::sim::engine
#endif
