#include "format/native/spooled_trace.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/input.h"
#include "base/nameless_file.h"
#include "format/native/keep_calls.h"

namespace opwright::format {
namespace {

Error no_room(const std::string& folder, int error) {
  return {ErrorCode::kIo, fmt::format("{}: no temporary file for the calls of a trace: {}; set TMPDIR to a folder with "
                                      "room, or import without the calls (--no-calls)",
                                      folder, system_message(error))};
}

}  // namespace

Result<SpooledTrace> SpooledTrace::create() {
  const std::string folder = temporary_folder();
  const int file = open_nameless(folder);
  if (file < 0) return fail(no_room(folder, errno));
  return SpooledTrace(file, folder);
}

SpooledTrace::SpooledTrace(SpooledTrace&& other) noexcept
    : file_(std::exchange(other.file_, -1)), folder_(std::move(other.folder_)), size_(other.size_) {}

SpooledTrace::~SpooledTrace() {
  if (file_ >= 0) close(file_);
}

Status SpooledTrace::write_at(std::string_view bytes, std::size_t offset) {
  while (!bytes.empty()) {
    const ssize_t put = pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return status_ = fail(no_room(folder_, put < 0 ? errno : ENOSPC));
    bytes.remove_prefix(static_cast<std::size_t>(put));
    offset += static_cast<std::size_t>(put);
  }
  return {};
}

Status SpooledTrace::append(std::string_view bytes) {
  OPWRIGHT_TRY(write_at(bytes, size_));
  size_ += bytes.size();
  return {};
}

Status SpooledTrace::overwrite_front(std::string_view bytes) { return write_at(bytes, 0); }

Status SpooledTrace::keep(const std::string& shown, TraceSink& sink) {
  if (size_ == 0) return {};
  // Nobody else has this file: it cannot shrink under the mapping.
  void* mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file_, 0);
  if (mapped == MAP_FAILED) return fail(no_room(folder_, errno));
  // A walk from front to back leaves its pages to the system as it goes, so that memory does not grow with the calls.
  constexpr std::size_t kAtOnce = std::size_t{1} << 20U;
  std::size_t left = 0;
  const auto passed = [&](std::size_t end) {
    if (end < left) left = 0;  // another walk
    if (end - left < kAtOnce) return;
    const std::size_t to = end / kAtOnce * kAtOnce;
    madvise(static_cast<char*>(mapped) + left, to - left, MADV_DONTNEED);  // a hint: what cannot go stays
    left = to;
  };
  const auto keep_mapped = [&]() -> Status {
    auto trace = NativeTrace::from_view({static_cast<const char*>(mapped), size_}, shown, passed);
    if (trace) return keep_calls(*trace, sink);
    if (trace.error().code != ErrorCode::kUnsupported) return fail(trace.error());
    sink.leave_out("orders of calls that are beyond a limit", 1);  // its configurations are there
    return {};
  };
  const Status kept = keep_mapped();
  munmap(mapped, size_);
  return kept;
}

}  // namespace opwright::format
