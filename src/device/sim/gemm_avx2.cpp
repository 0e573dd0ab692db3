#include <algorithm>
#include <bit>
#include <cstring>

#include "device/sim/gemm_kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define OPWRIGHT_TARGET __attribute__((target("avx2,fma")))

namespace opwright::sim::engine {

namespace {

struct Lanes {
  static constexpr std::int64_t kLanes = 8;
  static constexpr std::int64_t kVectors = 4;
  using Floats = __m256;
  using Ints = __m256i;
  using Bytes = __m256i;

  OPWRIGHT_TARGET static Bytes bytes(int value) { return _mm256_set1_epi8(static_cast<char>(value)); }
  OPWRIGHT_TARGET static Bytes spread_bytes(std::uint32_t word) { return _mm256_set1_epi32(static_cast<int>(word)); }
  OPWRIGHT_TARGET static Bytes load_bytes(const std::uint32_t* at) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  }
  OPWRIGHT_TARGET static Ints with_byte(Ints words, Ints byte, std::int64_t index) {
    return _mm256_or_si256(words, index == 0   ? byte
                                  : index == 1 ? _mm256_slli_epi32(byte, 8)
                                  : index == 2 ? _mm256_slli_epi32(byte, 16)
                                               : _mm256_slli_epi32(byte, 24));
  }
  OPWRIGHT_TARGET static Bytes add_bytes(Bytes a, Bytes b) { return _mm256_add_epi8(a, b); }
  OPWRIGHT_TARGET static Bytes max_bytes(Bytes a, Bytes b) { return _mm256_max_epi8(a, b); }
  OPWRIGHT_TARGET static Bytes max_unsigned(Bytes a, Bytes b) { return _mm256_max_epu8(a, b); }
  // A byte of each lane where a float has its exponent; the other bits are noise.
  OPWRIGHT_TARGET static Ints power(Bytes a, std::int64_t index) {
    return index == 0   ? _mm256_slli_epi32(a, 23)
           : index == 1 ? _mm256_slli_epi32(a, 15)
           : index == 2 ? _mm256_slli_epi32(a, 7)
                        : _mm256_srli_epi32(a, 1);
  }
  OPWRIGHT_TARGET static Floats noisy_magic(Bytes a, std::int64_t index) { return as_magic(power(a, index)); }
  OPWRIGHT_TARGET static Ints larger_power(Ints a, Ints b) {
    const Ints exponent = ints(0x7F800000);
    return _mm256_max_epi32(bit_and(a, exponent), bit_and(b, exponent));
  }
  OPWRIGHT_TARGET static Floats as_magic(Ints power) {
    return as_floats(_mm256_or_si256(bit_and(power, ints(0x7F800000)), ints(1 << 22)));
  }
  OPWRIGHT_TARGET static Ints ints(int value) { return _mm256_set1_epi32(value); }
  OPWRIGHT_TARGET static Ints add(Ints a, Ints b) { return _mm256_add_epi32(a, b); }
  OPWRIGHT_TARGET static Ints sub(Ints a, Ints b) { return _mm256_sub_epi32(a, b); }
  OPWRIGHT_TARGET static Ints max(Ints a, Ints b) { return _mm256_max_epi32(a, b); }
  OPWRIGHT_TARGET static int largest(Ints a) {
    __m128i four = _mm_max_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4E));
    return _mm_cvtsi128_si32(_mm_max_epi32(four, _mm_shuffle_epi32(four, 0xB1)));
  }
  OPWRIGHT_TARGET static Ints bit_and(Ints a, Ints b) { return _mm256_and_si256(a, b); }
  OPWRIGHT_TARGET static Ints as_ints(Floats a) { return _mm256_castps_si256(a); }
  OPWRIGHT_TARGET static Floats as_floats(Ints a) { return _mm256_castsi256_ps(a); }
  OPWRIGHT_TARGET static Floats without_denormals(Floats a) {
    const Ints exponent = bit_and(as_ints(a), ints(0x7F800000));
    return as_floats(_mm256_andnot_si256(_mm256_cmpeq_epi32(exponent, ints(0)), as_ints(a)));
  }
  // The biased exponent; of a zero, one that is small whatever it is compared with.
  OPWRIGHT_TARGET static Ints exponent_or_little(Ints a) {
    const Ints exponent = _mm256_srli_epi32(bit_and(a, ints(INT32_MAX)), 23);
    return _mm256_blendv_epi8(exponent, ints(-1000), _mm256_cmpeq_epi32(exponent, ints(0)));
  }
  // a0 b0 a1 b1 …: the first and the second half of it.
  OPWRIGHT_TARGET static Floats first_pairs(Floats a, Floats b) {
    return _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b), 0x20);
  }
  OPWRIGHT_TARGET static Floats last_pairs(Floats a, Floats b) {
    return _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b), 0x31);
  }
  OPWRIGHT_TARGET static Ints floor_to_ints(Floats a) {
    return _mm256_cvttps_epi32(_mm256_round_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC));
  }
  // a * b (a power of two) to nearest, ties away from zero: twice the rest, cut off, is what rounding adds.
  OPWRIGHT_TARGET static Ints away_to_ints(Floats a, Floats b) {
    const __m256 value = _mm256_mul_ps(a, b);
    const __m256i whole = _mm256_cvttps_epi32(value);
    const __m256 rest = _mm256_sub_ps(value, _mm256_cvtepi32_ps(whole));
    return _mm256_add_epi32(whole, _mm256_cvttps_epi32(_mm256_add_ps(rest, rest)));
  }
  OPWRIGHT_TARGET static Floats away_to_floats(Ints a) {
    const __m256i magnitude = _mm256_abs_epi32(a);
    // Above 24 bits the conversion rounds: a one below the last bit makes of a tie what lies above it.
    const __m256i odd = _mm256_add_epi32(_mm256_add_epi32(magnitude, magnitude), _mm256_set1_epi32(1));
    const __m256 large = _mm256_mul_ps(_mm256_cvtepi32_ps(odd), _mm256_set1_ps(0.5F));
    const __m256i above = _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32((1 << 24) - 1));
    const __m256 value = _mm256_blendv_ps(_mm256_cvtepi32_ps(magnitude), large, _mm256_castsi256_ps(above));
    return _mm256_or_ps(value, _mm256_and_ps(_mm256_castsi256_ps(a), _mm256_set1_ps(-0.0F)));
  }
  OPWRIGHT_TARGET static Floats load(const float* at) { return _mm256_loadu_ps(at); }
  OPWRIGHT_TARGET static Floats load_once(const float* at) { return load(at); }
  OPWRIGHT_TARGET static Floats spread(const float* at) { return _mm256_broadcast_ss(at); }
  OPWRIGHT_TARGET static void store(float* at, Floats a) { _mm256_storeu_ps(at, a); }
  OPWRIGHT_TARGET static Floats to_bfloat16(Floats a) {
    const Ints bits = as_ints(a);
    const Ints odd = bit_and(_mm256_srli_epi32(bits, 16), ints(1));
    return as_floats(bit_and(add(add(bits, ints(0x7FFF)), odd), ints(~0xFFFF)));
  }
  OPWRIGHT_TARGET static Floats floats(float value) { return _mm256_set1_ps(value); }
  OPWRIGHT_TARGET static Floats add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
  OPWRIGHT_TARGET static Floats sub(Floats a, Floats b) { return _mm256_sub_ps(a, b); }
  OPWRIGHT_TARGET static Floats mul(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  OPWRIGHT_TARGET static Floats multiply_add(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
};

#include "device/sim/gemm_lanes.inc"
#include "device/sim/gemm_split.inc"

}  // namespace

const Kernel* avx2_kernel() {
  static const Kernel kernel{kRows, kColumns, kWords, Lanes::kLanes, run, split_in0, split_in1, fold_strip};
  static const bool there = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return there ? &kernel : nullptr;
}

}  // namespace opwright::sim::engine

#else
namespace opwright::sim::engine {
const Kernel* avx2_kernel() { return nullptr; }
}  // namespace opwright::sim::engine
#endif
