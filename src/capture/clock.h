// Time in ticks: the processor's counter where it runs at one rate (a read costs a few ns, clock_gettime 20 to 30),
// else nanoseconds. A trace carries its tick rate, so nothing is converted while the model runs.
#pragma once

#include <cstdint>
#include <ctime>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace opwright::capture {

inline std::uint64_t steady_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

inline bool counter_is_steady() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0x80000007, &a, &b, &c, &d) == 0) return false;
  return (d & (1U << 8)) != 0;
#else
  return false;
#endif
}

inline std::uint64_t ticks() {
#if defined(__x86_64__)
  static const bool steady = counter_is_steady();
  if (steady) return __rdtsc();
#endif
  return steady_ns();
}

}  // namespace opwright::capture
