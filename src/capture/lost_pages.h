// Memory that is mapped from the trace file. Somebody may truncate the file, its disk may go or be mounted read-only:
// the system then answers the next touch with SIGBUS, which would kill the model. The handler here takes such touches
// of our own mappings: ordinary memory takes the place of the lost pages, the file is marked, and the program goes on.
// Every other SIGBUS goes where it would have gone without us.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace opwright::capture {

// Of one trace file; lives as long as anything of it is guarded.
struct GuardedFile {
  int fd = -1;
  std::atomic<bool> is_lost{false};
  std::atomic<bool>* told = nullptr;  // set too when the file is lost; may be null
};

// From here on [begin, begin + size), mapped from `offset` of the file, is ours. False: no memory for the entry.
bool guard_pages(void* begin, std::size_t size, std::uint64_t offset, GuardedFile& file);
// Before it is unmapped.
void release_pages(void* begin);
// Others may have put a handler over ours since (Python's faulthandler does): puts ours on top again. Cheap.
void keep_guarding();

}  // namespace opwright::capture
