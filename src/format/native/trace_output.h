// Where a native trace is written to: memory, or a file that is there whole or not at all.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/atomic_file.h"
#include "base/limits.h"
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
    if (bytes_.size() <= limits().document) return {};
    return fail(over_limit("the trace in memory between two formats", &Limits::document,
                           size_words(bytes_.size()) + " of calls"));
  }
  Status overwrite_front(std::string_view bytes) override {
    bytes_.replace(0, bytes.size(), bytes);
    return {};
  }
  std::string take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// A temporary beside `path` until commit() renames it; it goes away when that did not happen.
class FileOutput final : public TraceOutput {
 public:
  static Result<FileOutput> create(const std::string& path);
  Status append(std::string_view bytes) override { return file_.append(bytes); }
  Status overwrite_front(std::string_view bytes) override { return file_.overwrite_front(bytes); }
  Status commit() { return file_.commit(); }

 private:
  explicit FileOutput(AtomicFile&& file) : file_(std::move(file)) {}
  AtomicFile file_;
};

}  // namespace opwright::format
