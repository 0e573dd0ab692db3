// Loops that use the machine's wide registers. The program is built for any x86-64, so such a loop is compiled
// three times and the machine decides at run time. No fused multiply-add: results are the same on every machine.
//
//   [[gnu::always_inline]] inline double sum_loop(const double* x, std::size_t n) { … }
//   OPWRIGHT_VECTORISED(double, sum, (const double* x, std::size_t n), (x, n))
//   … sum(x, n) …
//
// A loop that names its lanes itself (vector_size) must be compiled for its target from the start: compilers take such
// a loop apart before they inline it. It stands in a file that is included once a target, its functions marked
// OPWRIGHT_TARGET: compare/chunk_sums.cpp.
#pragma once

#if defined(__x86_64__)
#if defined(__clang__)
#define OPWRIGHT_WIDEST [[gnu::target("avx2")]]
#define OPWRIGHT_HAS_WIDEST false
#else
// These instructions have a fused multiply-add of their own: it is switched off by name.
#define OPWRIGHT_WIDEST \
  [[gnu::target("avx512f,avx512dq,avx512vl,avx512bw,prefer-vector-width=512"), gnu::optimize("fp-contract=off")]]
#define OPWRIGHT_HAS_WIDEST                                                             \
  (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 && \
   __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512bw") != 0)
#endif
#define OPWRIGHT_AVX2 [[gnu::target("avx2")]]
#define OPWRIGHT_VECTORISED(result, name, parameters, arguments)                                 \
  OPWRIGHT_WIDEST static result name##_widest parameters { return name##_loop arguments; }       \
  [[gnu::target("avx2")]] static result name##_avx2 parameters { return name##_loop arguments; } \
  static result name##_plain parameters { return name##_loop arguments; }                        \
  static result name parameters {                                                                \
    static const bool widest = OPWRIGHT_HAS_WIDEST;                                              \
    static const bool wide = __builtin_cpu_supports("avx2") != 0;                                \
    if (widest) return name##_widest arguments;                                                  \
    return wide ? name##_avx2 arguments : name##_plain arguments;                                \
  }
#else
#define OPWRIGHT_VECTORISED(result, name, parameters, arguments) \
  static result name parameters { return name##_loop arguments; }
#endif
