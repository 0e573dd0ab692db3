#include "device/external/program_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "base/input.h"
#include "base/subprocess.h"
#include "device/external/keeper.h"

namespace opwright {
namespace {

constexpr std::size_t kTailBytes = 2048;
constexpr std::size_t kMostLine = std::size_t{64} << 20;

using Clock = std::chrono::steady_clock;

struct Ends {
  int read = -1, write = -1;
};

Result<Ends> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return fail(ErrorCode::kIo, fmt::format("cannot make a pipe: {}", system_message(errno)));
  return Ends{ends[0], ends[1]};
}

void close_end(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

std::string path_of(const std::vector<std::string>& environment) {
  for (const std::string& entry : environment)
    if (entry.starts_with("PATH=")) return entry.substr(5);
  return "/usr/local/bin:/usr/bin:/bin";
}

// A write to a program that is gone must not end us.
class NoBrokenPipe {
 public:
  NoBrokenPipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  NoBrokenPipe(const NoBrokenPipe&) = delete;
  NoBrokenPipe& operator=(const NoBrokenPipe&) = delete;
  ~NoBrokenPipe() {
    if (sigismember(&before_, SIGPIPE) == 0) {
      const timespec now{};
      while (sigtimedwait(&pipe_, nullptr, &now) > 0) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{}, before_{};
};

std::string signal_text(int signal) {
  const char* name = sigabbrev_np(signal);
  const char* what = sigdescr_np(signal);
  if (name == nullptr || what == nullptr) return fmt::format("signal {}", signal);
  std::string text = what;
  text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return fmt::format("SIG{}, {}", name, text);
}

}  // namespace

Result<ProgramProcess> ProgramProcess::start(const DeviceProgram& program, const std::string& folder) {
  if (program.argv.empty()) return fail(ErrorCode::kUsage, fmt::format("{}: names no program", program.name));
  const auto path = find_program(program.argv[0], path_of(program.environment));
  if (!path)
    return fail(ErrorCode::kNotFound,
                fmt::format("{}: there is no program '{}'; check its name, and PATH", program.name, program.argv[0]));
  Ends in, out, err, nothing;
  int control[2] = {-1, -1};
  const auto close_theirs = [&] {
    close_end(in.read), close_end(out.write), close_end(err.write), close_end(control[1]);
  };
  const auto close_ours = [&] { close_end(in.write), close_end(out.read), close_end(err.read), close_end(control[0]); };
  const auto cannot = [&](std::string why) {
    close_theirs(), close_ours(), close_end(nothing.read);
    return fail(ErrorCode::kIo, fmt::format("{}: cannot start {}: {}", program.name, *path, why));
  };
  for (Ends* ends : {&in, &out, &err}) {
    auto made = make_pipe();
    if (!made) return cannot(made.error().message);
    *ends = *made;
  }
  nothing.read = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing.read < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control) != 0)
    return cannot(system_message(errno));
  const auto keeper =
      spawn("/proc/self/exe", {"opwright", std::string(kKeeperVerb)}, process_environment(),
            {.in = nothing.read, .out = nothing.read, .more = {control[1], in.read, out.write, err.write}});
  close_theirs(), close_end(nothing.read);
  if (!keeper) return cannot(keeper.error().message);
  ProgramProcess process;
  process.keeper_ = *keeper;
  add_keeper(*keeper);
  process.control_ = std::exchange(control[0], -1);
  process.in_ = std::exchange(in.write, -1);
  process.out_ = std::exchange(out.read, -1);
  process.err_ = std::exchange(err.read, -1);
  for (const int descriptor : {process.in_, process.out_, process.err_}) fcntl(descriptor, F_SETFL, O_NONBLOCK);
  const std::string order =
      to_text(KeeperOrder{.path = *path, .argv = program.argv, .environment = program.environment, .folder = folder});
  for (std::size_t sent = 0; sent < order.size();) {
    const ssize_t count = send(process.control_, order.data() + sent, order.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return cannot(fmt::format("its keeper: {}", system_message(errno)));
    sent += static_cast<std::size_t>(count);
  }
  while (process.control_ >= 0 && process.heard_.find('\n') == std::string::npos) process.hear_keeper();
  const std::string first = process.heard_.substr(0, process.heard_.find('\n'));
  if (first == "started") {
    process.heard_.erase(0, first.size() + 1);
    return process;
  }
  return cannot(first.starts_with("failed ") ? system_message(std::atoi(first.c_str() + 7))
                                             : "its keeper ended at once");
}

ProgramProcess::ProgramProcess(ProgramProcess&& other) noexcept
    : keeper_(std::exchange(other.keeper_, -1)),
      control_(std::exchange(other.control_, -1)),
      in_(std::exchange(other.in_, -1)),
      out_(std::exchange(other.out_, -1)),
      err_(std::exchange(other.err_, -1)),
      status_(other.status_),
      left_(other.left_),
      heard_(std::move(other.heard_)),
      pending_(std::move(other.pending_)),
      received_(std::move(other.received_)),
      searched_(other.searched_),
      tail_(std::move(other.tail_)) {}

ProgramProcess::~ProgramProcess() { end(0); }

void ProgramProcess::close_all() {
  close_end(control_);
  close_end(in_);
  close_end(out_);
  close_end(err_);
}

ProgramProcess::Read ProgramProcess::read_output() {
  std::array<char, 65536> buffer;
  const ssize_t count = read(out_, buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN ? Read::kNothing : Read::kEnd;
  received_.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 ? Read::kSome : Read::kEnd;
}

ProgramProcess::Read ProgramProcess::read_errors() {
  std::array<char, 65536> buffer;
  const ssize_t count = read(err_, buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN ? Read::kNothing : Read::kEnd;
  tail_.append(buffer.data(), static_cast<std::size_t>(count));
  if (tail_.size() > kTailBytes) tail_.erase(0, tail_.size() - kTailBytes);
  return count > 0 ? Read::kSome : Read::kEnd;
}

// False when nobody reads there any more.
bool ProgramProcess::write_some() {
  const ssize_t count = write(in_, pending_.data(), pending_.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  pending_.erase(0, static_cast<std::size_t>(count));
  return true;
}

std::optional<std::string> ProgramProcess::exchange(std::string_view line, double seconds, std::string& problem) {
  const NoBrokenPipe guard;
  pending_ = line;
  if (!line.empty()) pending_ += '\n';
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  while (true) {
    if (auto answer = take_line()) return answer;
    if (out_ < 0) {
      problem = "its output ended";
      return std::nullopt;
    }
    if (received_.size() > kMostLine) {
      problem = fmt::format("it wrote {} bytes without an end of line", received_.size());
      return std::nullopt;
    }
    int wait_ms = -1;
    if (seconds > 0) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0) {
        problem = fmt::format("nothing came within {} s", seconds);
        return std::nullopt;
      }
      wait_ms = static_cast<int>(std::min<long long>(left + 1, 1 << 30));
    }
    pollfd waiting[] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}, {pending_.empty() ? -1 : in_, POLLOUT, 0}};
    if (poll(waiting, 3, wait_ms) < 0 && errno != EINTR) {
      problem = fmt::format("waiting for it failed: {}", system_message(errno));
      return std::nullopt;
    }
    if (waiting[1].revents != 0 && read_errors() == Read::kEnd) close_end(err_);
    if (waiting[2].revents != 0 && !write_some()) {
      pending_.clear();  // its end will be seen on its output
      close_end(in_);
    }
    if (waiting[0].revents != 0 && read_output() == Read::kEnd) close_end(out_);
  }
}

std::optional<std::string> ProgramProcess::take_line() {
  const std::size_t end = received_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = received_.size();
    return std::nullopt;
  }
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  searched_ = 0;
  return line;
}

std::optional<std::string> ProgramProcess::unasked(bool& ended) {
  if (out_ >= 0 && received_.empty() && read_output() == Read::kEnd) close_end(out_);
  auto line = take_line();
  if (!line && !received_.empty()) line = std::exchange(received_, {});  // the beginning of one is too much, too
  ended = !line && out_ < 0;
  return line;
}

// One word of the keeper, or its end. Waits for it.
void ProgramProcess::hear_keeper() {
  std::array<char, 256> buffer;
  const ssize_t count = recv(control_, buffer.data(), buffer.size(), 0);
  if (count < 0 && errno == EINTR) return;
  if (count > 0) {
    heard_.append(buffer.data(), static_cast<std::size_t>(count));
    return;
  }
  close_end(control_);
}

bool ProgramProcess::wait(double seconds) {
  constexpr int kReads = 64;  // of a program that never stops printing, before we look at the clock again
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  while (keeper_ > 0) {
    // What it still prints is read, so that it cannot block on a full pipe while leaving.
    for (int i = 0; i < kReads && out_ >= 0 && read_output() == Read::kSome; ++i) received_.clear();
    for (int i = 0; i < kReads && err_ >= 0 && read_errors() == Read::kSome; ++i) {
    }
    searched_ = 0;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (control_ >= 0) {
      constexpr int kLook = 20;  // its output may fill up meanwhile
      pollfd waiting{control_, POLLIN, 0};
      if (poll(&waiting, 1, static_cast<int>(std::clamp<long long>(left, 0, kLook))) > 0) hear_keeper();
    }
    if (control_ < 0) {  // the keeper has ended, and all that it kept
      while (waitpid(keeper_, nullptr, 0) < 0 && errno == EINTR) {
      }
      forget_keeper(std::exchange(keeper_, -1));
      if (err_ >= 0) read_errors();
      if (const auto report = parse_keeper_report(heard_)) {
        status_ = report->status;
        left_ = report->left;
      } else {
        status_ = SIGKILL;  // somebody killed the keeper; the kernel did so with the program
        end_left_behind();
      }
      return true;
    }
    if (left <= 0) return false;
  }
  return true;
}

void ProgramProcess::end(double seconds) {
  constexpr double kKeeperSeconds = 15;  // it gives up by itself before
  close_end(in_);
  if (keeper_ > 0 && (seconds <= 0 || !wait(seconds))) {
    shutdown(control_, SHUT_WR);
    if (!wait(kKeeperSeconds)) {
      kill(keeper_, SIGKILL);
      while (keeper_ > 0) wait(1);
    }
  }
  close_all();
}

std::string ProgramProcess::how_it_ended(bool& crashed) {
  constexpr double kPatience = 2;  // for one that closed its output and goes on
  if (keeper_ > 0 && !wait(kPatience)) {
    crashed = false;
    return "closed its output and did not end";
  }
  crashed = true;
  if (WIFSIGNALED(status_)) return fmt::format("was ended by {}", signal_text(WTERMSIG(status_)));
  crashed = WEXITSTATUS(status_) != 0;
  return fmt::format("ended with exit status {}", WEXITSTATUS(status_));
}

}  // namespace opwright
