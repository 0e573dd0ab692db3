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
  static constexpr std::int64_t kColumns = 16;
  using Floats = __m256;
  using Ints = __m256i;
  using Bytes = __m128i;

  OPWRIGHT_TARGET static Bytes bytes(int value) { return _mm_set1_epi8(static_cast<char>(value)); }
  OPWRIGHT_TARGET static Bytes four_bytes(const std::int8_t* at) {
    std::int32_t word = 0;
    std::memcpy(&word, at, sizeof(word));
    return _mm_set1_epi32(word);
  }
  OPWRIGHT_TARGET static Bytes load(const std::int8_t* at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  }
  OPWRIGHT_TARGET static Bytes add_bytes(Bytes a, Bytes b) { return _mm_add_epi8(a, b); }
  OPWRIGHT_TARGET static Bytes max_bytes(Bytes a, Bytes b) { return _mm_max_epi8(a, b); }
  OPWRIGHT_TARGET static void store(std::uint8_t* at, Bytes a) { _mm_storeu_si128(reinterpret_cast<__m128i*>(at), a); }
  OPWRIGHT_TARGET static Ints widen(const std::uint8_t* at) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(at)));
  }
  OPWRIGHT_TARGET static Ints ints(int value) { return _mm256_set1_epi32(value); }
  OPWRIGHT_TARGET static Ints add(Ints a, Ints b) { return _mm256_add_epi32(a, b); }
  OPWRIGHT_TARGET static Ints sub(Ints a, Ints b) { return _mm256_sub_epi32(a, b); }
  OPWRIGHT_TARGET static Ints max(Ints a, Ints b) { return _mm256_max_epi32(a, b); }
  OPWRIGHT_TARGET static Ints bit_and(Ints a, Ints b) { return _mm256_and_si256(a, b); }
  OPWRIGHT_TARGET static Ints bit_or(Ints a, Ints b) { return _mm256_or_si256(a, b); }
  OPWRIGHT_TARGET static Ints shift_left(Ints a) { return _mm256_slli_epi32(a, 23); }
  OPWRIGHT_TARGET static Ints as_ints(Floats a) { return _mm256_castps_si256(a); }
  OPWRIGHT_TARGET static Floats as_floats(Ints a) { return _mm256_castsi256_ps(a); }
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
  OPWRIGHT_TARGET static void store(float* at, Floats a) { _mm256_storeu_ps(at, a); }
  OPWRIGHT_TARGET static Floats floats(float value) { return _mm256_set1_ps(value); }
  OPWRIGHT_TARGET static Floats add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
  OPWRIGHT_TARGET static Floats sub(Floats a, Floats b) { return _mm256_sub_ps(a, b); }
  OPWRIGHT_TARGET static Floats mul(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  OPWRIGHT_TARGET static Floats multiply_add(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
};

#include "device/sim/gemm_lanes.inc"

}  // namespace

const Kernel* avx2_kernel() {
  static const Kernel kernel{kRows, kColumns, run, split, accumulate};
  static const bool there = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return there ? &kernel : nullptr;
}

}  // namespace opwright::sim::engine

#else
namespace opwright::sim::engine {
const Kernel* avx2_kernel() { return nullptr; }
}  // namespace opwright::sim::engine
#endif
