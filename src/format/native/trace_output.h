// Where a native trace is written to: memory, or a file that is there whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace opwright::format {

class TraceOutput {
 public:
  virtual ~TraceOutput() = default;
  virtual Status append(std::string_view bytes) = 0;
  // Replaces the first bytes, which were appended before.
  virtual Status overwrite_front(std::string_view bytes) = 0;
};

class MemoryOutput final : public TraceOutput {
 public:
  Status append(std::string_view bytes) override {
    bytes_ += bytes;
    return {};
  }
  Status overwrite_front(std::string_view bytes) override {
    bytes_.replace(0, bytes.size(), bytes);
    return {};
  }
  std::string take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// A temporary beside `path` until commit() renames it; the destructor removes it when that did not happen.
class FileOutput final : public TraceOutput {
 public:
  static Result<FileOutput> create(const std::string& path);
  FileOutput(FileOutput&& other) noexcept;
  FileOutput& operator=(FileOutput&&) = delete;
  ~FileOutput() override;
  Status append(std::string_view bytes) override;
  Status overwrite_front(std::string_view bytes) override;
  Status commit();

 private:
  FileOutput(std::string path, std::string temporary, int fd)
      : path_(std::move(path)), temporary_(std::move(temporary)), fd_(fd) {}
  Status failed(const char* what);

  std::string path_, temporary_;
  int fd_ = -1;
};

}  // namespace opwright::format
