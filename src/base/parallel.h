// Loops over all hardware threads.
#pragma once

#include <cstdint>
#include <functional>

namespace opwright {

// Threads that loops use: `set_threads`, else $OPWRIGHT_THREADS, else what the machine has.
int threads();
void set_threads(int count);  // 0: back to the default. Not while a loop runs.

// Calls f(first, last) for parts of [begin, end), each of at most `grain` indices except that a loop too small to share
// runs as one part. Parts run in any order on any thread; the call returns when all have ended. A loop inside a part
// runs on that part's thread. The first exception of a part is thrown again here.
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain,
                  const std::function<void(std::int64_t first, std::int64_t last)>& f);

}  // namespace opwright
