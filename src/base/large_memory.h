// How this process takes memory for tensors.
#pragma once

#include <cstdint>

namespace opwright {

// Freed blocks stay with the process: a case takes and frees hundreds of megabytes, and getting zeroed pages from the
// kernel again each time doubles its cost.
void reuse_large_blocks();

// The opposite: a freed block of 32 MiB or more goes back to the system, so that what a process has is what it needs
// now.
void give_back_large_blocks();

// The process gets no more than this; beyond, an allocation throws. Not under the address sanitizer, whose shadow alone
// is larger.
void limit_memory(std::int64_t bytes);

}  // namespace opwright
