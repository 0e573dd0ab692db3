#include "launch/temp_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/input.h"

namespace opwright::launch {
namespace fs = std::filesystem;
namespace {

constexpr char kLockName[] = "/.lock";

// Without O_CLOEXEC: the user's program inherits the lock, so that its folder stays even when only we were killed.
int open_lock(const std::string& folder, int flags) { return open((folder + kLockName).c_str(), O_RDWR | flags, 0600); }

// A folder, not a link to one, of this user: what others have left in a common folder is none of our business.
bool is_ours(const fs::path& path) {
  struct stat info{};
  return lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid();
}

// A folder without a lock file is one that another run is just making, or not ours.
void sweep(const fs::path& parent, const std::string& prefix) {
  std::error_code ignored;
  for (fs::directory_iterator entry(parent, ignored), end; entry != end; entry.increment(ignored)) {
    if (ignored) return;
    if (!entry->path().filename().string().starts_with(prefix) || !is_ours(entry->path())) continue;
    const int lock = open_lock(entry->path(), O_CLOEXEC | O_NOFOLLOW);
    if (lock < 0) continue;
    if (flock(lock, LOCK_EX | LOCK_NB) == 0) fs::remove_all(entry->path(), ignored);
    close(lock);
  }
}

}  // namespace

Result<TempFolder> TempFolder::make(const std::string& prefix) {
  const char* chosen = std::getenv("TMPDIR");
  const std::string parent = chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
  sweep(parent, prefix);
  std::error_code relative;
  const std::string pattern = (fs::absolute(parent, relative) / (prefix + "XXXXXX")).string();
  int error = 0;
  // Again, because the sweep of another run can come between the file and its lock.
  for (int attempt = 0; attempt < 8; ++attempt) {
    std::string path = pattern;
    if (mkdtemp(path.data()) == nullptr) {
      return fail(ErrorCode::kIo, fmt::format("cannot make a temporary folder in {}: {}; set TMPDIR to a folder that "
                                              "you can write to",
                                              parent, system_message(errno)));
    }
    const int lock = open_lock(path, O_CREAT | O_EXCL | O_NOFOLLOW);
    const bool locked = lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) == 0;
    error = errno;
    TempFolder folder(path, lock);
    if (locked && access((path + kLockName).c_str(), F_OK) == 0) return folder;
  }
  return fail(ErrorCode::kIo, fmt::format("cannot lock a file in {}: {}; set TMPDIR to a folder on a local disk",
                                          parent, system_message(error)));
}

TempFolder::TempFolder(TempFolder&& other) noexcept
    : path_(std::exchange(other.path_, "")), lock_(std::exchange(other.lock_, -1)), kept_(other.kept_) {}

TempFolder& TempFolder::operator=(TempFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_, other.lock_);
  std::swap(kept_, other.kept_);
  return *this;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  if (kept_)
    fs::remove(path_ + kLockName, ignored);  // no run sweeps it now
  else if (!path_.empty())
    fs::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

}  // namespace opwright::launch
