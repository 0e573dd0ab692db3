#include "base/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>

#include "base/input.h"

namespace opwright {
namespace {

bool is_executable_file(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  // posix_spawn takes char* for historical reasons and does not write.
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

class Descriptor {  // closed at the end
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { reset(); }
  void reset() {
    if (number_ >= 0) close(number_);
    number_ = -1;
  }
  int get() const { return number_; }

 private:
  int number_;
};

struct Pipe {
  Descriptor read_end, write_end;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return fail(ErrorCode::kIo, fmt::format("cannot make a pipe: {}", system_message(errno)));
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// Reads what is there. False at the end of the stream.
bool take(int descriptor, std::string& text, std::size_t max_bytes) {
  std::array<char, 65536> buffer;
  const ssize_t count = read(descriptor, buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  const std::size_t room = max_bytes - std::min(max_bytes, text.size());
  text.append(buffer.data(), std::min(room, static_cast<std::size_t>(count)));
  return count > 0;
}

}  // namespace

std::optional<std::string> find_program(std::string_view name, std::string_view search_path) {
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string_view::npos)
    return is_executable_file(std::string(name)) ? std::optional<std::string>(name) : std::nullopt;
  while (true) {
    const std::size_t colon = search_path.find(':');
    const std::string_view folder = search_path.substr(0, colon);
    // An empty entry is the current folder, as in a shell.
    std::string path = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
    if (is_executable_file(path)) return path;
    if (colon == std::string_view::npos) return std::nullopt;
    search_path.remove_prefix(colon + 1);
  }
}

std::vector<std::string> process_environment() {
  std::vector<std::string> result;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) result.emplace_back(*entry);
  return result;
}

Result<pid_t> spawn(const std::string& path, const std::vector<std::string>& argv,
                    const std::vector<std::string>& environment, const SpawnDescriptors& descriptors) {
  // Out of the way of the numbers that they get: a number must not be taken before it was given on.
  constexpr int kFirstFree = 64;
  std::vector<Descriptor> moved;
  for (const int descriptor : descriptors.more) {
    moved.emplace_back(fcntl(descriptor, F_DUPFD_CLOEXEC, kFirstFree));
    if (moved.back().get() < 0)
      return fail(ErrorCode::kIo, fmt::format("{}: cannot start it: {}", path, system_message(errno)));
  }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  const int given[] = {descriptors.in, descriptors.out, descriptors.err};
  for (int target = 0; target < 3; ++target) {
    if (given[target] >= 0) posix_spawn_file_actions_adddup2(&actions, given[target], target);
  }
  for (std::size_t i = 0; i < moved.size(); ++i)
    posix_spawn_file_actions_adddup2(&actions, moved[i].get(), 3 + static_cast<int>(i));
  // Ignored signals stay ignored: `nohup` must reach the program.
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);

  pid_t child = -1;
  const int error =
      posix_spawn(&child, path.c_str(), &actions, &attributes, pointers(argv).data(), pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return fail(error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
                fmt::format("{}: cannot start it: {}", path, system_message(error)));
  }
  return child;
}

Result<Captured> capture(const std::vector<std::string>& argv, const CaptureOptions& options) {
  OPWRIGHT_TRY_ASSIGN(Pipe out, make_pipe());
  OPWRIGHT_TRY_ASSIGN(Pipe err, make_pipe());
  const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  OPWRIGHT_TRY_ASSIGN(const pid_t child,
                      spawn(argv.at(0), argv, options.environment ? *options.environment : process_environment(),
                            {nothing.get(), out.write_end.get(), err.write_end.get()}));
  out.write_end.reset();
  err.write_end.reset();

  using Clock = std::chrono::steady_clock;
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.seconds));
  Captured captured;
  bool timed_out = false;
  while (out.read_end.get() >= 0 || err.read_end.get() >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    timed_out = left <= 0;
    if (timed_out) break;
    pollfd waiting[] = {{out.read_end.get(), POLLIN, 0},
                        {err.read_end.get(), POLLIN, 0}};  // poll() skips negative ones
    if (poll(waiting, 2, static_cast<int>(std::min<long long>(left, 1 << 30))) < 0 && errno != EINTR) break;
    if (waiting[0].revents != 0 && !take(out.read_end.get(), captured.out, options.max_bytes)) out.read_end.reset();
    if (waiting[1].revents != 0 && !take(err.read_end.get(), captured.err, options.max_bytes)) err.read_end.reset();
  }
  if (timed_out) kill(child, SIGKILL);
  captured.status = shell_status(wait_for(child));
  if (timed_out) return fail(ErrorCode::kIo, fmt::format("{}: no end within {} s, killed", argv[0], options.seconds));
  return captured;
}

int shell_status(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace opwright
