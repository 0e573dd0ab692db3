#include "base/large_memory.h"

#include <malloc.h>
#include <sys/resource.h>

namespace opwright {

void reuse_large_blocks() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, 2'000'000'000);
}

void give_back_large_blocks() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // named, it stays: glibc would raise it with the first block that is freed
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
}

void limit_memory(std::int64_t bytes) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  (void)bytes;
#else
  // The soft limit alone: a device program that the process starts may lift it for itself.
  rlimit limit{};
  getrlimit(RLIMIT_DATA, &limit);
  limit.rlim_cur = static_cast<rlim_t>(bytes);
  setrlimit(RLIMIT_DATA, &limit);
#endif
}

}  // namespace opwright
