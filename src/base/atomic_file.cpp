#include "base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>

#include "base/input.h"

namespace opwright {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 18;
constexpr int kAttempts = 100;  // random names that are taken: none, unless somebody plants them
constexpr int kMostLinks = 40;  // as many as the kernel follows

Status write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(fd, text.data(), text.size());
    if (put < 0 && errno != EINTR) return fail(ErrorCode::kIo, "");
    if (put > 0) text.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

// Beside the file, so that it can be renamed; hidden, and short enough whatever the file is called.
std::string temporary_for(const std::string& path) {
  constexpr std::size_t kMostOfName = 180;
  std::uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random)
    random = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) ^
             static_cast<std::uint64_t>(getpid());
  const std::string name = path.substr(path.rfind('/') + 1);
  return fmt::format("{}/.{}.{:016x}.tmp", folder_of(path), name.substr(0, kMostOfName), random);
}

// The rule by which Linux protects opening files (fs.protected_symlinks), which a rename knows nothing of: in a folder
// that everybody can write to, a link is followed only if its owner is we ourselves or the folder's owner.
bool is_planted(const std::string& link, const struct stat& info) {
  struct stat folder{};
  if (stat(folder_of(link).c_str(), &folder) != 0) return false;
  const bool shared = (folder.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH);
  return shared && info.st_uid != geteuid() && info.st_uid != folder.st_uid;
}

Result<std::string> end_of_links(std::string path) {
  const std::string named = path;
  struct stat info{};
  for (int step = 0; step < kMostLinks; ++step) {
    if (lstat(path.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return path;
    if (is_planted(path, info))
      return fail(ErrorCode::kIo, fmt::format("{}: a link of another user in a folder that everybody can write to; it "
                                              "is not followed, nothing was changed: choose another file",
                                              path));
    std::error_code error;
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    if (error) break;
    path = target.is_absolute() ? target.string() : (std::filesystem::path(folder_of(path)) / target).string();
  }
  return fail(ErrorCode::kIo, fmt::format("{}: a link that leads nowhere; nothing was changed", named));
}

}  // namespace

Result<AtomicFile> AtomicFile::create(const std::string& path, Links links, mode_t mode) {
  AtomicFile file;
  file.path_ = path;
  struct stat info{};
  bool there = stat(path.c_str(), &info) == 0;
  if (links == Links::kFollow) {
    file.special_ = there && !S_ISREG(info.st_mode);
    if (file.special_) {
      file.fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
      if (file.fd_ < 0) return file.failed("write");
      return file;
    }
    OPWRIGHT_TRY_ASSIGN(file.path_, end_of_links(path));
  }
  there = lstat(file.path_.c_str(), &info) == 0 && S_ISREG(info.st_mode);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    file.temporary_ = temporary_for(file.path_);
    file.fd_ = ::open(file.temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, there ? 0600 : mode);
    if (file.fd_ >= 0 || errno != EEXIST) break;
  }
  if (file.fd_ < 0 || (there && fchmod(file.fd_, info.st_mode & 0777) != 0)) return file.failed("write");
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

Status AtomicFile::overwrite_front(std::string_view text) {
  OPWRIGHT_TRY(flush());
  for (off_t at = 0; !text.empty();) {
    const ssize_t put = ::pwrite(fd_, text.data(), text.size(), at);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return failed("write");
    text.remove_prefix(static_cast<std::size_t>(put));
    at += put;
  }
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

Status write_into(const std::string& folder, const std::string& name, std::string_view content) {
  OPWRIGHT_TRY_ASSIGN(AtomicFile file, AtomicFile::create(fmt::format("{}/{}", folder, name), Links::kReplace));
  OPWRIGHT_TRY(file.append(content));
  return file.commit();
}

}  // namespace opwright
