#include "format/native/trace_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/input.h"

namespace opwright::format {

Result<FileOutput> FileOutput::create(const std::string& path) {
  std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0)
    return fail(ErrorCode::kIo, fmt::format("{}: cannot write: {}; nothing was changed", path, system_message(errno)));
  return FileOutput(path, std::move(temporary), fd);
}

FileOutput::FileOutput(FileOutput&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::move(other.temporary_)), fd_(std::exchange(other.fd_, -1)) {}

FileOutput::~FileOutput() {
  if (fd_ < 0) return;
  close(fd_);
  unlink(temporary_.c_str());
}

Status FileOutput::failed(const char* what) {
  return fail(ErrorCode::kIo,
              fmt::format("{}: cannot {}: {}; nothing was changed", path_, what, system_message(errno)));
}

Status FileOutput::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return failed("write");
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Status FileOutput::overwrite_front(std::string_view bytes) {
  for (off_t at = 0; !bytes.empty();) {
    const ssize_t put = ::pwrite(fd_, bytes.data(), bytes.size(), at);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return failed("write");
    bytes.remove_prefix(static_cast<std::size_t>(put));
    at += put;
  }
  return {};
}

Status FileOutput::commit() {
  if (fsync(fd_) != 0) return failed("write");
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) return failed("rename");
  close(std::exchange(fd_, -1));
  return {};
}

}  // namespace opwright::format
