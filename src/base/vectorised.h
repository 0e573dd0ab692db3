// Loops that use the machine's wide registers. The program is built for any x86-64, so such a loop is compiled twice
// and the machine decides at run time. No fused multiply-add: results are the same on every machine.
//
//   [[gnu::always_inline]] inline double sum_loop(const double* x, std::size_t n) { … }
//   OPWRIGHT_VECTORISED(double, sum, (const double* x, std::size_t n), (x, n))
//   … sum(x, n) …
#pragma once

#if defined(__x86_64__)
#define OPWRIGHT_VECTORISED(result, name, parameters, arguments)                                 \
  [[gnu::target("avx2")]] static result name##_avx2 parameters { return name##_loop arguments; } \
  static result name##_plain parameters { return name##_loop arguments; }                        \
  static result name parameters {                                                                \
    static const bool wide = __builtin_cpu_supports("avx2") != 0;                                \
    return wide ? name##_avx2 arguments : name##_plain arguments;                                \
  }
#else
#define OPWRIGHT_VECTORISED(result, name, parameters, arguments) \
  static result name parameters { return name##_loop arguments; }
#endif
