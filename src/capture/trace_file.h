// The file of a trace, mapped piece by piece. Space is reserved before it is mapped: a full disk is an answer here, and
// never a signal in the model. Whatever else becomes of the file, the mapped memory stays usable (lost_pages.h).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "capture/layout.h"
#include "capture/lost_pages.h"

namespace opwright::capture {

struct Chunk {
  char* data = nullptr;  // null: none
  std::size_t size = 0;
  std::uint64_t offset = 0;  // in the file
  std::uint32_t units = 0;
};

class TraceFile {
 public:
  // Makes FOLDER/STEM-PID.opwt (a number is added where it exists). Null and a message on failure.
  static std::unique_ptr<TraceFile> create(const std::string& folder, const std::string& stem, std::uint64_t max_bytes,
                                           std::string& message);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  const std::string& path() const { return path_; }
  // The file is no longer what was written: truncated, or its disk does not take pages. Nothing more goes into it.
  bool is_lost() const { return guarded_.is_lost.load(std::memory_order_relaxed); }
  // Also sets `told` when that happens.
  void tell_when_lost(std::atomic<bool>& told) { guarded_.told = &told; }
  // Notices what has happened to the file without anybody touching a page of it.
  void look_after();
  Header& header() { return *header_; }
  // A mapped chunk of zeros; data is null when there is no space, and `message` says why.
  Chunk reserve(std::uint32_t units, std::string& message);
  static void unmap(Chunk& chunk);
  // Cuts off what was reserved and not used. Chunks must be unmapped by now.
  void finish(std::uint64_t used_end);

 private:
  TraceFile() = default;

  void look_after_locked();

  std::string path_;
  int fd_ = -1;
  GuardedFile guarded_;
  Header* header_ = nullptr;
  std::uint64_t max_bytes_ = 0;
  std::mutex mutex_;
  std::uint64_t end_ = kHeaderSize;
};

}  // namespace opwright::capture
