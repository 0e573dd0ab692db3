#include "capture/trace_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "capture/clock.h"
#include "capture/crc32c.h"

namespace opwright::capture {
namespace {

constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, since Linux 5.14

std::string reason(int error) {
  char buffer[256];
  return strerror_r(error, buffer, sizeof buffer);
}

// The folder and its parents. An error shows when the file is opened.
void make_folders(const std::string& folder) {
  for (std::size_t slash = folder.find('/', 1);; slash = folder.find('/', slash + 1)) {
    ::mkdir(folder.substr(0, slash).c_str(), 0777);
    if (slash == std::string::npos) return;
  }
}

// 0, or an errno. Asks before the kernel would answer a file beyond RLIMIT_FSIZE with a signal.
int allocate(int fd, std::uint64_t offset, std::uint64_t size) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && offset + size > limit.rlim_cur) {
    return EFBIG;
  }
  int error = 0;
  do {
    error = ::posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(size));
  } while (error == EINTR);
  return error;
}

}  // namespace

std::unique_ptr<TraceFile> TraceFile::create(const std::string& folder, const std::string& stem,
                                             std::uint64_t max_bytes, std::string& message) {
  make_folders(folder);
  std::unique_ptr<TraceFile> file(new TraceFile);
  file->max_bytes_ = max_bytes;
  const std::string base = folder + "/" + stem + "-" + std::to_string(::getpid());
  for (int attempt = 0; file->fd_ < 0; ++attempt) {
    file->path_ = base + (attempt == 0 ? "" : "-" + std::to_string(attempt)) + ".opwt";
    file->fd_ = ::open(file->path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file->fd_ < 0 && (errno != EEXIST || attempt > 100'000)) {
      message = file->path_ + ": " + reason(errno) + "; choose a trace folder that can be written";
      file->path_.clear();  // nothing of ours to remove
      return nullptr;
    }
  }
  ::posix_fadvise(file->fd_, 0, 0, POSIX_FADV_RANDOM);  // reserved pages are empty: nothing to read ahead
  int error = allocate(file->fd_, 0, kHeaderSize);
  void* page = MAP_FAILED;
  if (error == 0) {
    page = ::mmap(nullptr, kHeaderSize, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd_, 0);
    if (page == MAP_FAILED) error = errno;
  }
  file->guarded_.fd = file->fd_;
  if (error == 0 && !guard_pages(page, kHeaderSize, 0, file->guarded_)) {
    ::munmap(page, kHeaderSize);
    error = ENOMEM;
  }
  if (error != 0) {
    message = file->path_ + ": " + reason(error) + "; make room, or choose another trace folder";
    ::unlink(file->path_.c_str());
    return nullptr;
  }
  file->header_ = static_cast<Header*>(page);
  Header& header = *file->header_;
  header.version = kTraceVersion;
  header.header_size = kHeaderSize;
  header.unit = kUnit;
  header.pid = static_cast<std::uint32_t>(::getpid());
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  header.start_unix_ns =
      static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
  header.start_ticks = ticks();
  header.state = static_cast<std::uint32_t>(State::kOpen);
  Header whole = header;
  std::memcpy(whole.magic, kMagic, sizeof kMagic);
  header.header_crc = crc32c(&whole, offsetof(Header, header_crc));
  std::atomic_signal_fence(std::memory_order_seq_cst);  // the magic number last: with it the header is whole
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  return file;
}

TraceFile::~TraceFile() {
  if (header_ != nullptr) {
    release_pages(header_);
    ::munmap(header_, kHeaderSize);
  }
  if (fd_ >= 0) ::close(fd_);
}

Chunk TraceFile::reserve(std::uint32_t units, std::string& message) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t size = std::uint64_t{units} * kUnit;
  look_after_locked();  // else a truncated file would grow again here, with a hole where records were
  if (is_lost()) {
    message = path_ + ": the file was changed while it was written";
    return {};
  }
  if (max_bytes_ != 0 && end_ + size > max_bytes_) {
    message = path_ + ": the trace has reached its limit of " + std::to_string(max_bytes_) + " bytes";
    return {};
  }
  if (const int error = allocate(fd_, end_, size); error != 0) {
    message = path_ + ": " + reason(error);
    return {};
  }
  void* data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, static_cast<off_t>(end_));
  if (data == MAP_FAILED) {
    message = path_ + ": cannot map " + std::to_string(size) + " bytes: " + reason(errno);
    return {};
  }
  if (!guard_pages(data, size, end_, guarded_)) {
    ::munmap(data, size);
    message = path_ + ": " + reason(ENOMEM);
    return {};
  }
  // Pages are made writable here, mostly by the flush thread, and not one by one under the model (an older kernel does
  // not know this request and makes them one by one).
  ::madvise(data, size, kPopulateWrite);
  Chunk chunk{static_cast<char*>(data), size, end_, units};
  end_ += size;
  header_->units += units;
  return chunk;
}

void TraceFile::unmap(Chunk& chunk) {
  if (chunk.data != nullptr) {
    release_pages(chunk.data);
    ::munmap(chunk.data, chunk.size);
  }
  chunk = {};
}

void TraceFile::look_after() {
  const std::lock_guard lock(mutex_);
  look_after_locked();
}

void TraceFile::look_after_locked() {
  keep_guarding();
  struct stat now{};
  if (is_lost() || ::fstat(fd_, &now) != 0 || static_cast<std::uint64_t>(now.st_size) >= end_) return;
  guarded_.is_lost.store(true);
  if (guarded_.told != nullptr) guarded_.told->store(true);
}

void TraceFile::finish(std::uint64_t used_end) {
  if (is_lost()) return;  // who changed it may be reading it
  // A failure leaves zeros at the end, which readers know.
  if (::ftruncate(fd_, static_cast<off_t>(used_end)) != 0) return;
}

}  // namespace opwright::capture
