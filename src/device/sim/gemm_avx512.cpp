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
  static constexpr std::int64_t kVectors = 2;  // so few that sums wait in registers to be merged
  using Floats = __m512;
  using Ints = __m512i;
  using Bytes = __m512i;

  OPWRIGHT_TARGET static Bytes bytes(int value) { return _mm512_set1_epi8(static_cast<char>(value)); }
  OPWRIGHT_TARGET static Bytes spread_bytes(std::uint32_t word) { return _mm512_set1_epi32(static_cast<int>(word)); }
  OPWRIGHT_TARGET static Bytes load_bytes(const std::uint32_t* at) { return _mm512_loadu_si512(at); }
  OPWRIGHT_TARGET static Ints with_byte(Ints words, Ints byte, std::int64_t index) {
    return _mm512_or_si512(words, index == 0   ? byte
                                  : index == 1 ? _mm512_slli_epi32(byte, 8)
                                  : index == 2 ? _mm512_slli_epi32(byte, 16)
                                               : _mm512_slli_epi32(byte, 24));
  }
  OPWRIGHT_TARGET static Bytes add_bytes(Bytes a, Bytes b) { return _mm512_add_epi8(a, b); }
  OPWRIGHT_TARGET static Bytes max_bytes(Bytes a, Bytes b) { return _mm512_max_epi8(a, b); }
  OPWRIGHT_TARGET static Bytes max_unsigned(Bytes a, Bytes b) { return _mm512_max_epu8(a, b); }
  // A byte of each lane where a float has its exponent; the other bits are noise.
  OPWRIGHT_TARGET static Ints power(Bytes a, std::int64_t index) {
    return index == 0   ? _mm512_slli_epi32(a, 23)
           : index == 1 ? _mm512_slli_epi32(a, 15)
           : index == 2 ? _mm512_slli_epi32(a, 7)
                        : _mm512_srli_epi32(a, 1);
  }
  // The same as a float whose sign and fraction are noise. The fraction's upper bits are another exponent, and none
  // comes near 0 or 255: the float is far from the next power of two.
  OPWRIGHT_TARGET static Floats noisy_magic(Bytes a, std::int64_t index) {
    return as_floats(index == 0 ? _mm512_rol_epi32(a, 23) : power(a, index));
  }
  OPWRIGHT_TARGET static Ints larger_power(Ints a, Ints b) {
    constexpr int kLargestMagnitude = 0xB;
    return as_ints(_mm512_range_ps(as_floats(a), as_floats(b), kLargestMagnitude));
  }
  OPWRIGHT_TARGET static Floats as_magic(Ints power) {
    constexpr int kAndOr = 0xEA;
    return as_floats(_mm512_ternarylogic_epi32(power, ints(0x7F800000), ints(1 << 22), kAndOr));
  }
  OPWRIGHT_TARGET static Ints ints(int value) { return _mm512_set1_epi32(value); }
  OPWRIGHT_TARGET static Ints add(Ints a, Ints b) { return _mm512_add_epi32(a, b); }
  OPWRIGHT_TARGET static Ints sub(Ints a, Ints b) { return _mm512_sub_epi32(a, b); }
  OPWRIGHT_TARGET static Ints max(Ints a, Ints b) { return _mm512_max_epi32(a, b); }
  OPWRIGHT_TARGET static int largest(Ints a) { return _mm512_reduce_max_epi32(a); }
  OPWRIGHT_TARGET static Ints bit_and(Ints a, Ints b) { return _mm512_and_si512(a, b); }
  OPWRIGHT_TARGET static Ints as_ints(Floats a) { return _mm512_castps_si512(a); }
  OPWRIGHT_TARGET static Floats as_floats(Ints a) { return _mm512_castsi512_ps(a); }
  OPWRIGHT_TARGET static Floats without_denormals(Floats a) {
    return _mm512_maskz_mov_ps(_mm512_test_epi32_mask(as_ints(a), ints(0x7F800000)), a);
  }
  // The biased exponent; of a zero, one that is small whatever it is compared with.
  OPWRIGHT_TARGET static Ints exponent_or_little(Ints a) {
    const __mmask16 there = _mm512_test_epi32_mask(a, ints(INT32_MAX));
    return _mm512_mask_srli_epi32(ints(-1000), there, bit_and(a, ints(INT32_MAX)), 23);
  }
  // a0 b0 a1 b1 …: the first and the second half of it.
  OPWRIGHT_TARGET static Floats first_pairs(Floats a, Floats b) {
    return _mm512_permutex2var_ps(a, _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23), b);
  }
  OPWRIGHT_TARGET static Floats last_pairs(Floats a, Floats b) {
    return _mm512_permutex2var_ps(a, _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31),
                                  b);
  }
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
  // Cut off to 24 bits; where what is left is half a unit or more, adding it once more reaches the next one.
  OPWRIGHT_TARGET static Floats away_to_floats(Ints a) {
    const Floats cut = _mm512_cvt_roundepi32_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    const Ints left = sub(a, _mm512_cvttps_epi32(cut));
    return _mm512_cvt_roundepi32_ps(add(a, left), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
  }
  OPWRIGHT_TARGET static Floats load(const float* at) { return _mm512_loadu_ps(at); }
  // For a value used more than once: the compiler would load it anew for each use, and loads are what is scarce.
  OPWRIGHT_TARGET static Floats load_once(const float* at) {
    Floats value = load(at);
    asm("" : "+v"(value));
    return value;
  }
  // As an integer: some processors need an arithmetic unit to spread a float, but none to spread an integer.
  OPWRIGHT_TARGET static Floats spread(const float* at) {
    Ints value = _mm512_set1_epi32(std::bit_cast<int>(*at));
    asm("" : "+v"(value));
    return as_floats(value);
  }
  OPWRIGHT_TARGET static void store(float* at, Floats a) { _mm512_storeu_ps(at, a); }
  OPWRIGHT_TARGET static Floats to_bfloat16(Floats a) {
    const Ints bits = as_ints(a);
    const Ints odd = bit_and(_mm512_srli_epi32(bits, 16), ints(1));
    return as_floats(bit_and(add(add(bits, ints(0x7FFF)), odd), ints(~0xFFFF)));
  }
  OPWRIGHT_TARGET static Floats floats(float value) { return spread(&value); }
  OPWRIGHT_TARGET static Floats add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
  OPWRIGHT_TARGET static Floats sub(Floats a, Floats b) { return _mm512_sub_ps(a, b); }
  OPWRIGHT_TARGET static Floats mul(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  OPWRIGHT_TARGET static Floats multiply_add(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
};

#include "device/sim/gemm_lanes.inc"
#include "device/sim/gemm_split.inc"

}  // namespace

const Kernel* avx512_kernel() {
  static const Kernel kernel{kRows, kColumns, kWords, Lanes::kLanes, run, split_in0, split_in1, fold_strip};
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
