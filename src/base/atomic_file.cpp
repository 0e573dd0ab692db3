#include "base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/input.h"

namespace opwright {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 18;

Status write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(fd, text.data(), text.size());
    if (put < 0 && errno != EINTR) return fail(ErrorCode::kIo, "");
    if (put > 0) text.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

}  // namespace

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  AtomicFile file;
  std::error_code ignored;
  file.path_ = path;
  if (std::filesystem::is_symlink(path, ignored)) {  // a link stays a link: what it names is replaced
    const std::string target = std::filesystem::weakly_canonical(path, ignored).string();
    if (!target.empty()) file.path_ = target;
  }
  struct stat info{};
  file.special_ = stat(file.path_.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  file.temporary_ = file.special_ ? file.path_ : fmt::format("{}.{}.tmp", file.path_, getpid());
  file.fd_ = ::open(file.temporary_.c_str(), O_WRONLY | O_CLOEXEC | (file.special_ ? 0 : O_CREAT | O_TRUNC), 0644);
  if (file.fd_ < 0) return file.failed("write");
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      special_(other.special_),
      fd_(std::exchange(other.fd_, -1)),
      bytes_(other.bytes_),
      buffer_(std::move(other.buffer_)) {}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  close(fd_);
  if (!special_) unlink(temporary_.c_str());
}

tl::unexpected<Error> AtomicFile::failed(const char* what) {
  const int error = errno;
  if (fd_ >= 0) {
    close(fd_);
    if (!special_) unlink(temporary_.c_str());
  }
  fd_ = -1;
  return fail(ErrorCode::kIo,
              fmt::format("{}: cannot {}: {}; nothing was changed", path_, what, system_message(error)));
}

Status AtomicFile::append(std::string_view text) {
  bytes_ += text.size();
  if (buffer_.size() + text.size() < kBuffer) {
    buffer_ += text;
    return {};
  }
  OPWRIGHT_TRY(flush());
  if (!write_all(fd_, text)) return failed("write");
  return {};
}

Status AtomicFile::flush() {
  if (!write_all(fd_, buffer_)) return failed("write");
  buffer_.clear();
  return {};
}

Status AtomicFile::commit() {
  OPWRIGHT_TRY(flush());
  if (!special_ && fsync(fd_) != 0) return failed("write");
  if (close(std::exchange(fd_, -1)) != 0) {
    const int error = errno;
    if (!special_) unlink(temporary_.c_str());
    errno = error;
    return failed("write");
  }
  if (!special_ && rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    unlink(temporary_.c_str());
    errno = error;
    return failed("rename");
  }
  return {};
}

}  // namespace opwright
