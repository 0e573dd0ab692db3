// A native trace that is made of another format, in a nameless file: memory does not grow with its calls.
#pragma once

#include <string>
#include <string_view>

#include "format/native/trace_output.h"
#include "format/trace_sink.h"

namespace opwright::format {

class SpooledTrace final : public TraceOutput {
 public:
  static Result<SpooledTrace> create();
  SpooledTrace(SpooledTrace&& other) noexcept;
  SpooledTrace& operator=(SpooledTrace&&) = delete;
  ~SpooledTrace() override;

  Status append(std::string_view bytes) override;
  Status overwrite_front(std::string_view bytes) override;
  const Status& status() const { return status_; }  // of what was written so far
  // Hands its calls to the sink; `shown` is the path of what it was made of.
  Status keep(const std::string& shown, TraceSink& sink);

 private:
  SpooledTrace(int file, std::string folder) : file_(file), folder_(std::move(folder)) {}
  Status write_at(std::string_view bytes, std::size_t offset);

  int file_ = -1;
  std::string folder_;
  std::size_t size_ = 0;
  Status status_;
};

}  // namespace opwright::format
