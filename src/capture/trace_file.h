// The file of a trace, mapped piece by piece. Space is reserved before it is mapped: a full disk is an answer here, and
// never a SIGBUS in the model.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "capture/layout.h"

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
  Header& header() { return *header_; }
  // A mapped chunk of zeros; data is null when there is no space, and `message` says why.
  Chunk reserve(std::uint32_t units, std::string& message);
  static void unmap(Chunk& chunk);
  // Cuts off what was reserved and not used. Chunks must be unmapped by now.
  void finish(std::uint64_t used_end);

 private:
  TraceFile() = default;

  std::string path_;
  int fd_ = -1;
  Header* header_ = nullptr;
  std::uint64_t max_bytes_ = 0;
  std::mutex mutex_;
  std::uint64_t end_ = kHeaderSize;
};

}  // namespace opwright::capture
