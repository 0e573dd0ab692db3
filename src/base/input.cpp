#include "base/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

#include "base/atomic_file.h"

namespace opwright {
namespace {

constexpr std::size_t kPadding = 64;
constexpr std::size_t kChunk = 256 * 1024;
constexpr std::size_t kMaxLine = std::size_t{1} << 30;

enum class Packing { kNone, kGzip, kZstd };

}  // namespace

std::string system_message(int error_number) { return std::generic_category().message(error_number); }

Text::Text(Text&& other) noexcept { *this = std::move(other); }
Text& Text::operator=(Text&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(mapped_, other.mapped_);
  std::swap(owned_, other.owned_);
  return *this;
}
Text::~Text() {
  if (mapped_ > 0) munmap(const_cast<char*>(data_), mapped_);
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
  std::size_t total = 0;  // decompressed bytes so far
  std::size_t line_start = 0;

  ~State() {
    if (gzip_ready) inflateEnd(&gzip);
    if (zstd != nullptr) ZSTD_freeDStream(zstd);
    if (owns_fd && fd >= 0) close(fd);
  }

  Error error(ErrorCode code, std::string what) const { return Error{code, fmt::format("{}: {}", path, what)}; }

  Result<std::size_t> read_fd(char* to, std::size_t count) {
    while (true) {
      const ssize_t got = ::read(fd, to, count);
      if (got >= 0) return static_cast<std::size_t>(got);
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
    if (ZSTD_isError(zstd_left)) return fail(error(ErrorCode::kBadInput, "damaged zstd data; get the file again"));
    return out.pos;
  }

  // Decompressed bytes; 0 only at the end of the input.
  Result<std::size_t> read_some(char* to, std::size_t count) {
    if (packing == Packing::kNone) {
      if (raw_begin < raw_end_at) {  // what open() looked at
        const std::size_t n = std::min(count, raw_end_at - raw_begin);
        std::memcpy(to, raw.data() + raw_begin, n);
        raw_begin += n;
        return n;
      }
      return read_fd(to, count);
    }
    while (true) {
      OPWRIGHT_TRY(refill_raw());
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
    if (buffer.size() - end < kChunk) buffer.resize(std::max(buffer.size() * 2, end + kChunk));
    OPWRIGHT_TRY_ASSIGN(const std::size_t got, read_some(buffer.data() + end, buffer.size() - end));
    end += got;
    total += got;
    at_end = got == 0;
    return got > 0;
  }
};

Input::Input(std::unique_ptr<State> state) : state_(std::move(state)) {}
Input::Input(Input&&) noexcept = default;
Input& Input::operator=(Input&&) noexcept = default;
Input::~Input() = default;

Result<Input> Input::open(const std::string& path) {
  auto state = std::make_unique<State>();
  state->path = path == "-" ? "standard input" : path;
  if (path == "-") {
    state->fd = STDIN_FILENO;
  } else {
    state->fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (state->fd < 0) {
      const auto code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
      const char* next = code == ErrorCode::kNotFound ? "; check the path" : "";
      return fail(code, fmt::format("{}: cannot open: {}{}", path, system_message(errno), next));
    }
    state->owns_fd = true;
  }
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

Result<Text> Input::read_all() && {
  State& s = *state_;
  Text text;
  struct stat info{};
  if (s.packing == Packing::kNone && s.owns_fd && fstat(s.fd, &info) == 0 && S_ISREG(info.st_mode) &&
      info.st_size > 0) {
    // Mapping beats reading: no fresh pages have to be zeroed. One anonymous page behind the file is the padding.
    const std::size_t size = static_cast<std::size_t>(info.st_size);
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t mapped = (size + page - 1) / page * page + page;
    void* room = mmap(nullptr, mapped, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room != MAP_FAILED) {
      void* file = mmap(room, size, PROT_READ, MAP_PRIVATE | MAP_FIXED | MAP_POPULATE, s.fd, 0);
      if (file != MAP_FAILED) {
        text.data_ = static_cast<const char*>(file);
        text.size_ = size;
        text.mapped_ = mapped;
        s.total = size;
        return text;
      }
      munmap(room, mapped);
    }
  }
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool got, s.more());
    if (!got) break;
  }
  const std::size_t size = s.end - s.begin;
  text.owned_ = std::make_unique<char[]>(size + kPadding);
  if (size > 0) std::memcpy(text.owned_.get(), s.buffer.data() + s.begin, size);
  text.data_ = text.owned_.get();
  text.size_ = size;
  s.buffer = {};
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
    if (length > kMaxLine) return fail(s.error(ErrorCode::kBadInput, "a line is longer than 1 GiB"));
    OPWRIGHT_TRY_ASSIGN(const bool got, s.more());
    if (!got) {
      if (s.begin == s.end) return std::nullopt;
      s.line_start = s.total - (s.end - s.begin);
      const std::string_view line(s.buffer.data() + s.begin, s.end - s.begin);
      s.begin = s.end;
      return line;
    }
  }
}

std::size_t Input::line_offset() const { return state_->line_start; }
std::size_t Input::bytes_read() const { return state_->total; }

Status read_file(const std::string& path, std::string& out) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail(ErrorCode::kIo, fmt::format("{}: cannot open: {}", path, system_message(errno)));
  if (out.size() < 16 * 1024) out.resize(16 * 1024);
  std::size_t size = 0;
  while (true) {
    const ssize_t got = ::read(fd, out.data() + size, out.size() - size);
    if (got < 0) {
      if (errno == EINTR) continue;
      const int error = errno;
      close(fd);
      return fail(ErrorCode::kIo, fmt::format("{}: cannot read: {}", path, system_message(error)));
    }
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
    if (size == out.size()) out.resize(out.size() * 4);
  }
  close(fd);
  out.resize(size);
  return {};
}

Status write_atomically(const std::string& named, std::string_view content) {
  OPWRIGHT_TRY_ASSIGN(AtomicFile file, AtomicFile::create(named));
  OPWRIGHT_TRY(file.append(content));
  return file.commit();
}

}  // namespace opwright
