#include "base/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <vector>

#include "base/atomic_file.h"
#include "base/nameless_file.h"

namespace opwright {
namespace {

constexpr std::size_t kPadding = 64;
constexpr std::size_t kChunk = 256 * 1024;
constexpr std::size_t kLargePages = std::size_t{8} << 20;
constexpr std::size_t kMostUnpacked = std::size_t{4} << 20;
constexpr std::size_t kMostRead = std::size_t{64} << 20;

enum class Packing { kNone, kGzip, kZstd };

}  // namespace

std::string system_message(int error_number) { return std::generic_category().message(error_number); }

std::string_view special_kind(unsigned mode) {
  if (S_ISREG(mode)) return "";
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return S_ISCHR(mode) || S_ISBLK(mode) ? "a device" : "no regular file";
}

Text::Text(Text&& other) noexcept { *this = std::move(other); }
Text& Text::operator=(Text&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(mapped_, other.mapped_);
  return *this;
}
Text::~Text() {
  if (mapped_ > 0) munmap(data_, mapped_);
}

// Pages of its own: growing moves them without a copy, and only those that are written to take memory.
bool Text::reserve(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  const std::size_t wanted = (bytes + kPadding + kPage - 1) / kPage * kPage;
  if (wanted <= mapped_) return true;
  void* room = mapped_ == 0 ? mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                            : mremap(data_, mapped_, wanted, MREMAP_MAYMOVE);
  if (room == MAP_FAILED) return false;
  data_ = static_cast<char*>(room);
  mapped_ = wanted;
  if (wanted >= kLargePages) madvise(room, wanted, MADV_HUGEPAGE);  // a hint: fewer pages have to be handed out
  return true;
}

struct Input::State {
  std::string path;
  int fd = -1;
  bool owns_fd = false;
  Packing packing = Packing::kNone;
  bool at_end = false;  // no more decompressed bytes will come
  bool raw_end = false;
  bool member_done = false;  // gzip: between two members
  std::vector<char> raw;     // compressed bytes not used yet: [raw_begin, raw_end_at)
  std::size_t raw_begin = 0, raw_end_at = 0;
  z_stream gzip{};
  bool gzip_ready = false;
  ZSTD_DStream* zstd = nullptr;
  std::size_t zstd_left = 0;  // 0: the last frame is complete
  std::vector<char> buffer;   // decompressed bytes not given out yet: [begin, end)
  std::size_t begin = 0, end = 0;
  std::size_t total = 0;      // decompressed bytes so far
  std::size_t raw_total = 0;  // bytes read so far
  std::size_t line_start = 0;
  struct stat opened{};  // what it was when it was opened

  ~State() {
    if (gzip_ready) inflateEnd(&gzip);
    if (zstd != nullptr) ZSTD_freeDStream(zstd);
    if (owns_fd && fd >= 0) close(fd);
  }

  Error error(ErrorCode code, std::string what) const { return Error{code, fmt::format("{}: {}", path, what)}; }

  Result<std::size_t> read_fd(char* to, std::size_t count) {
    while (true) {
      const ssize_t got = ::read(fd, to, count);
      if (got >= 0) {
        raw_total += static_cast<std::size_t>(got);
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR) return fail(error(ErrorCode::kIo, "cannot read: " + system_message(errno)));
    }
  }

  Status refill_raw() {
    if (raw_begin < raw_end_at || raw_end) return {};
    raw.resize(kChunk);
    OPWRIGHT_TRY_ASSIGN(const std::size_t got, read_fd(raw.data(), raw.size()));
    raw_begin = 0;
    raw_end_at = got;
    raw_end = got == 0;
    return {};
  }

  Result<std::size_t> unpack_gzip(char* to, std::size_t count) {
    gzip.next_in = reinterpret_cast<Bytef*>(raw.data() + raw_begin);
    gzip.avail_in = static_cast<uInt>(raw_end_at - raw_begin);
    gzip.next_out = reinterpret_cast<Bytef*>(to);
    gzip.avail_out = static_cast<uInt>(count);
    if (member_done && gzip.avail_in > 0) {
      inflateReset(&gzip);
      member_done = false;
    }
    const int code = inflate(&gzip, Z_NO_FLUSH);
    raw_begin = raw_end_at - gzip.avail_in;
    if (code == Z_STREAM_END)
      member_done = true;
    else if (code != Z_OK && code != Z_BUF_ERROR)
      return fail(error(ErrorCode::kBadInput, "damaged gzip data; get the file again"));
    return count - gzip.avail_out;
  }

  Result<std::size_t> unpack_zstd(char* to, std::size_t count) {
    ZSTD_inBuffer in{raw.data(), raw_end_at, raw_begin};
    ZSTD_outBuffer out{to, count, 0};
    zstd_left = ZSTD_decompressStream(zstd, &out, &in);
    raw_begin = in.pos;
    if (ZSTD_getErrorCode(zstd_left) == ZSTD_error_frameParameter_windowTooLarge)
      return fail(error(ErrorCode::kUnsupported,
                        "packed with a window of more than 128 MiB; pack it again without "
                        "--long or --ultra, or unpack it"));
    if (ZSTD_isError(zstd_left)) return fail(error(ErrorCode::kBadInput, "damaged zstd data; get the file again"));
    return out.pos;
  }

  // Decompressed bytes; 0 only at the end of the input. Here the limits of a whole input are kept.
  Result<std::size_t> read_some(char* to, std::size_t count) {
    OPWRIGHT_TRY_ASSIGN(const std::size_t got, packing == Packing::kNone ? read_plain(to, count) : unpack(to, count));
    total += got;
    if (total > limits().total) return fail(over(&Limits::total, fmt::format("{} and more", size_words(total))));
    if (packing != Packing::kNone && total > kRatioFloor && total / limits().ratio > raw_total)
      return fail(over(&Limits::ratio, fmt::format("{} unpack to {} and more, {} times as much", size_words(raw_total),
                                                   size_words(total), total / std::max<std::size_t>(raw_total, 1))));
    return got;
  }

  Error over(Limit limit, std::string_view seen) const { return over_limit(path, limit, seen); }

  Result<std::size_t> read_plain(char* to, std::size_t count) {
    if (raw_begin == raw_end_at) return read_fd(to, count);
    const std::size_t n = std::min(count, raw_end_at - raw_begin);  // what open() looked at
    std::memcpy(to, raw.data() + raw_begin, n);
    raw_begin += n;
    return n;
  }

  Result<std::size_t> unpack(char* to, std::size_t count) {
    count = std::min(count, kMostUnpacked);  // so that the limits are asked often enough
    while (true) {
      OPWRIGHT_TRY(refill_raw());
      // Packed data may go on without ever giving a byte: empty members, frames to be skipped.
      if (raw_total > limits().total)
        return fail(over(&Limits::total, fmt::format("{} of packed data and more", size_words(raw_total))));
      const bool no_input = raw_begin == raw_end_at;
      if (no_input && ((packing == Packing::kGzip && member_done) || (packing == Packing::kZstd && zstd_left == 0)))
        return 0;
      auto got = packing == Packing::kGzip ? unpack_gzip(to, count) : unpack_zstd(to, count);
      if (!got || *got > 0) return got;
      if (no_input) return fail(error(ErrorCode::kBadInput, "the compressed data is cut; get the file again"));
    }
  }

  // Makes more decompressed bytes available behind `end`; false at the end of the input.
  Result<bool> more() {
    if (at_end) return false;
    if (begin > 0) {
      std::memmove(buffer.data(), buffer.data() + begin, end - begin);
      end -= begin;
      begin = 0;
    }
    if (buffer.size() - end < kChunk) {
      // Never much more than the longest line: a buffer that doubles would be twice that.
      const std::size_t wanted = std::max(end + kChunk, std::min(buffer.size() * 2, limits().line + 2 * kChunk));
      buffer.resize(wanted);
    }
    OPWRIGHT_TRY_ASSIGN(const std::size_t got, read_some(buffer.data() + end, buffer.size() - end));
    end += got;
    at_end = got == 0;
    return got > 0;
  }

  bool is_regular() const { return S_ISREG(opened.st_mode); }

  // A file that is shorter, longer or written again since it was opened.
  bool has_changed() const {
    struct stat now{};
    if (!is_regular() || fstat(fd, &now) != 0) return false;
    return now.st_size != opened.st_size || now.st_mtim.tv_sec != opened.st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != opened.st_mtim.tv_nsec;
  }

  bool is_shorter() const {
    struct stat now{};
    return is_regular() && fstat(fd, &now) == 0 && now.st_size < opened.st_size;
  }

  Error too_long(std::size_t size) const {
    return over(&Limits::document, fmt::format("one document of {} and more", size_words(size)));
  }

  Status fill(Text& text) {
    const std::size_t most = limits().document;
    if (packing == Packing::kNone && is_regular() && static_cast<std::uint64_t>(opened.st_size) > most)
      return fail(over(&Limits::document,
                       fmt::format("one document of {}", size_words(static_cast<std::uint64_t>(opened.st_size)))));
    const std::size_t known = packing == Packing::kNone && is_regular() ? static_cast<std::size_t>(opened.st_size) : 0;
    std::size_t room = std::max({known + 1, end - begin, kChunk});
    if (!text.reserve(room)) return fail(no_memory(room));
    if (end > begin) std::memcpy(text.data_, buffer.data() + begin, end - begin);
    text.size_ = end - begin;
    buffer = std::vector<char>();
    begin = end = 0;
    while (!at_end) {
      if (text.size_ > most) return fail(too_long(text.size_));
      if (text.size_ == room) {
        room = std::min(room * 2, most + kChunk);
        if (!text.reserve(room)) return fail(no_memory(room));
      }
      OPWRIGHT_TRY_ASSIGN(const std::size_t got,
                          read_some(text.data_ + text.size_, std::min(room - text.size_, kMostRead)));
      text.size_ += got;
      at_end = got == 0;
    }
    return {};
  }

  Error no_memory(std::size_t bytes) const {
    return error(ErrorCode::kIo, fmt::format("there is not enough memory for {} of it", size_words(bytes)));
  }
};

Input::Input(std::unique_ptr<State> state) : state_(std::move(state)) {}
Input::Input(Input&&) noexcept = default;
Input& Input::operator=(Input&&) noexcept = default;
Input::~Input() = default;

Result<Input> Input::open(const std::string& path, Take take) {
  auto state = std::make_unique<State>();
  state->path = path == "-" ? "standard input" : path;
  if (path == "-") {
    state->fd = STDIN_FILENO;
  } else {
    // Whoever opens a FIFO waits for its writer; O_NONBLOCK does not, and means nothing for regular files.
    state->fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | (take == Take::kRegular ? O_NONBLOCK | O_NOCTTY : 0));
    if (state->fd < 0) {
      const auto code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
      const char* next = code == ErrorCode::kNotFound ? "; check the path" : "";
      return fail(code, fmt::format("{}: cannot open: {}{}", path, system_message(errno), next));
    }
    state->owns_fd = true;
  }
  if (fstat(state->fd, &state->opened) != 0)
    return fail(state->error(ErrorCode::kIo, "cannot look at it: " + system_message(errno)));
  if (const std::string_view kind = special_kind(state->opened.st_mode); take == Take::kRegular && !kind.empty())
    return fail(state->error(ErrorCode::kNotATrace, fmt::format("{}, not a regular file", kind)));
  state->raw.resize(kChunk);
  while (state->raw_end_at < 4) {  // a pipe may give less than the magic number at once
    OPWRIGHT_TRY_ASSIGN(const std::size_t got,
                        state->read_fd(state->raw.data() + state->raw_end_at, kChunk - state->raw_end_at));
    if (got == 0) break;
    state->raw_end_at += got;
  }
  const std::string_view start(state->raw.data(), state->raw_end_at);
  if (start.starts_with("\x1f\x8b")) {
    state->packing = Packing::kGzip;
    state->gzip_ready = inflateInit2(&state->gzip, 15 + 16) == Z_OK;
    if (!state->gzip_ready) return fail(state->error(ErrorCode::kIo, "cannot start the gzip decoder"));
  } else if (start.starts_with("\x28\xb5\x2f\xfd")) {
    state->packing = Packing::kZstd;
    state->zstd = ZSTD_createDStream();
    state->zstd_left = 1;
  }
  return Input(std::move(state));
}

Result<std::string_view> Input::peek(std::size_t count) {
  State& s = *state_;
  while (s.end - s.begin < count) {
    OPWRIGHT_TRY_ASSIGN(const bool got, s.more());
    if (!got) break;
  }
  return std::string_view(s.buffer.data() + s.begin, std::min(count, s.end - s.begin));
}

Result<Text> Input::read_all(Changes changes) && {
  Text text;
  OPWRIGHT_TRY(state_->fill(text));
  if (changes == Changes::kRefused && state_->has_changed())
    return fail(state_->error(ErrorCode::kBadInput, "somebody wrote it while it was read; try again when it is done"));
  return text;
}

Result<std::optional<std::string_view>> Input::next_line() {
  State& s = *state_;
  std::size_t searched = 0;
  while (true) {
    const char* start = s.buffer.data() + s.begin;
    const std::size_t length = s.end - s.begin;
    if (const void* found = length > searched ? std::memchr(start + searched, '\n', length - searched) : nullptr) {
      const auto size = static_cast<std::size_t>(static_cast<const char*>(found) - start);
      s.line_start = s.total - length;
      s.begin += size + 1;
      return std::string_view(start, size);
    }
    searched = length;
    if (length > limits().line)
      return fail(s.over(&Limits::line,
                         fmt::format("the line at byte {} has {} and more", s.total - length, size_words(length))));
    OPWRIGHT_TRY_ASSIGN(const bool got, s.more());
    if (!got) {
      if (s.packing == Packing::kNone && s.is_shorter())
        return fail(s.error(ErrorCode::kBadInput, "it became shorter while it was read; try again when it is done"));
      if (s.begin == s.end) return std::nullopt;
      s.line_start = s.total - (s.end - s.begin);
      const std::string_view line(s.buffer.data() + s.begin, s.end - s.begin);
      s.begin = s.end;
      return line;
    }
  }
}

std::string_view Input::blank_lines() {
  State& s = *state_;
  const char* start = s.buffer.data() + s.begin;
  const std::size_t length = s.end - s.begin;
  std::size_t size = 0;  // behind the last newline of the run
  for (std::size_t at = 0; at < length && (start[at] == '\n' || start[at] == '\r' || start[at] == ' '); ++at)
    if (start[at] == '\n') size = at + 1;
  s.begin += size;
  return {start, size};
}

std::size_t Input::line_offset() const { return state_->line_start; }
std::size_t Input::bytes_read() const { return state_->total; }
bool Input::is_stream() const { return !state_->is_regular() && !S_ISDIR(state_->opened.st_mode); }

Status Input::spool(Limit bound) {
  State& s = *state_;
  const char* folder = std::getenv("TMPDIR");
  const std::string place = folder != nullptr && *folder != '\0' ? folder : "/tmp";
  const auto failed = [&](int error) {
    return fail(ErrorCode::kIo, fmt::format("{}: cannot keep {} while it is read: {}; set TMPDIR to a folder with room",
                                            place, s.path, system_message(error)));
  };
  auto kept = std::make_unique<State>();
  kept->path = s.path;
  kept->owns_fd = true;
  kept->fd = open_nameless(place);
  if (kept->fd < 0) return failed(errno);
  const std::uint64_t most = limits().*bound;
  do {
    for (std::size_t at = s.begin; at < s.end;) {
      const ssize_t put = ::write(kept->fd, s.buffer.data() + at, s.end - at);
      if (put < 0 && errno != EINTR) return failed(errno);
      if (put > 0) at += static_cast<std::size_t>(put);
    }
    s.begin = s.end;
    if (s.total > most) return fail(s.over(bound, fmt::format("{} and more", size_words(s.total))));
    OPWRIGHT_TRY_ASSIGN(const bool got, s.more());
    if (!got) break;
  } while (true);
  if (lseek(kept->fd, 0, SEEK_SET) != 0 || fstat(kept->fd, &kept->opened) != 0) return failed(errno);
  state_ = std::move(kept);
  return {};
}

Status read_file(const std::string& path, std::string& out) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return fail(ErrorCode::kIo, fmt::format("{}: cannot open: {}", path, system_message(errno)));
  const auto read_it = [&]() -> Status {
    struct stat info{};
    if (fstat(fd, &info) != 0)
      return fail(ErrorCode::kIo, fmt::format("{}: cannot look at it: {}", path, system_message(errno)));
    if (const std::string_view kind = special_kind(info.st_mode); !kind.empty())
      return fail(ErrorCode::kBadInput, fmt::format("{}: {}, not a regular file", path, kind));
    if (out.size() < 16 * 1024) out.resize(16 * 1024);
    std::size_t size = 0;
    while (true) {
      const ssize_t got = ::read(fd, out.data() + size, out.size() - size);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return fail(ErrorCode::kIo, fmt::format("{}: cannot read: {}", path, system_message(errno)));
      if (got == 0) break;
      size += static_cast<std::size_t>(got);
      if (size > limits().document)
        return fail(over_limit(path, &Limits::document, fmt::format("{} and more", size_words(size))));
      if (size == out.size()) out.resize(std::min(out.size() * 4, limits().document + 1));
    }
    out.resize(size);
    return {};
  };
  const Status done = read_it();
  close(fd);
  return done;
}

Status write_atomically(const std::string& named, std::string_view content) {
  OPWRIGHT_TRY_ASSIGN(AtomicFile file, AtomicFile::create(named));
  OPWRIGHT_TRY(file.append(content));
  return file.commit();
}

}  // namespace opwright
