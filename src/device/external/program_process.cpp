#include "device/external/program_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "base/input.h"
#include "base/subprocess.h"

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

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));  // execve does not write
  result.push_back(nullptr);
  return result;
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

// In the child, between fork and exec: only calls that are safe there.
[[noreturn]] void become(const char* path, char* const* argv, char* const* environment, const int (&standard)[3],
                         pid_t parent, int error_pipe) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() == parent) {  // else it died in between, and nobody would tell us
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    signal(SIGPIPE, SIG_DFL);
    // A limit of memory that we took for our own tensors is none of the program's: libraries map more than they use.
    for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
      rlimit limit{};
      if (getrlimit(resource, &limit) != 0) continue;
      limit.rlim_cur = limit.rlim_max;
      setrlimit(resource, &limit);
    }
    bool good = true;
    for (int target = 0; target < 3; ++target) good = good && dup2(standard[target], target) == target;
    if (good) execve(path, argv, environment);
  }
  const int error = errno;
  (void)!write(error_pipe, &error, sizeof error);
  _exit(127);
}

}  // namespace

Result<ProgramProcess> ProgramProcess::start(const DeviceProgram& program) {
  if (program.argv.empty()) return fail(ErrorCode::kUsage, fmt::format("{}: names no program", program.name));
  const auto path = find_program(program.argv[0], path_of(program.environment));
  if (!path)
    return fail(ErrorCode::kNotFound,
                fmt::format("{}: there is no program '{}'; check its name, and PATH", program.name, program.argv[0]));
  Ends in, out, err, started;
  const auto close_pipes = [&] {
    for (Ends* ends : {&in, &out, &err, &started}) close_end(ends->read), close_end(ends->write);
  };
  for (Ends* ends : {&in, &out, &err, &started}) {
    auto made = make_pipe();
    if (!made) {
      close_pipes();
      return fail(made.error());
    }
    *ends = *made;
  }
  const std::vector<char*> argv = pointers(program.argv);
  const std::vector<char*> environment = pointers(program.environment);
  const int standard[3] = {in.read, out.write, err.write};
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) become(path->c_str(), argv.data(), environment.data(), standard, parent, started.write);
  const int fork_error = errno;
  close_end(in.read), close_end(out.write), close_end(err.write), close_end(started.write);
  int error = child < 0 ? fork_error : 0;
  if (child > 0) {
    ssize_t count = 0;
    while ((count = read(started.read, &error, sizeof error)) < 0 && errno == EINTR) {
    }
    if (count <= 0) error = 0;
  }
  if (error != 0) {
    if (child > 0) waitpid(child, nullptr, 0);
    close_pipes();
    return fail(ErrorCode::kIo, fmt::format("{}: cannot start {}: {}", program.name, *path, system_message(error)));
  }
  close_end(started.read);
  ProgramProcess process;
  process.child_ = child;
  process.in_ = in.write;
  process.out_ = out.read;
  process.err_ = err.read;
  for (const int descriptor : {process.in_, process.out_, process.err_}) fcntl(descriptor, F_SETFL, O_NONBLOCK);
  return process;
}

ProgramProcess::ProgramProcess(ProgramProcess&& other) noexcept
    : child_(std::exchange(other.child_, -1)),
      in_(std::exchange(other.in_, -1)),
      out_(std::exchange(other.out_, -1)),
      err_(std::exchange(other.err_, -1)),
      status_(other.status_),
      pending_(std::move(other.pending_)),
      received_(std::move(other.received_)),
      tail_(std::move(other.tail_)) {}

ProgramProcess::~ProgramProcess() { end(0); }

void ProgramProcess::close_all() {
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
    if (const std::size_t end = received_.find('\n'); end != std::string::npos) {
      std::string answer = received_.substr(0, end);
      received_.erase(0, end + 1);
      return answer;
    }
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

bool ProgramProcess::wait(double seconds) {
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  while (child_ > 0) {
    // What it still prints is read, so that it cannot block on a full pipe while leaving.
    while (out_ >= 0 && read_output() == Read::kSome) received_.clear();
    while (err_ >= 0 && read_errors() == Read::kSome) {
    }
    const pid_t ended = waitpid(child_, &status_, WNOHANG);
    if (ended == child_ || (ended < 0 && errno != EINTR)) {
      if (err_ >= 0) read_errors();
      child_ = -1;
      return true;
    }
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

void ProgramProcess::end(double seconds) {
  const pid_t group = child_;
  close_end(in_);
  if (child_ > 0 && (seconds <= 0 || !wait(seconds))) {
    kill(-group, SIGKILL);
    kill(group, SIGKILL);  // where it had not come to have its own group
    while (child_ > 0) wait(1);
  } else if (group > 0) {
    kill(-group, SIGKILL);  // children that it left behind
  }
  close_all();
}

std::string ProgramProcess::how_it_ended(bool& crashed) {
  constexpr double kPatience = 2;  // for one that closed its output and goes on
  const pid_t group = child_;
  if (child_ > 0 && !wait(kPatience)) {
    crashed = false;
    return "closed its output and did not end";
  }
  if (group > 0) kill(-group, SIGKILL);
  crashed = true;
  if (WIFSIGNALED(status_)) return fmt::format("was ended by {}", signal_text(WTERMSIG(status_)));
  crashed = WEXITSTATUS(status_) != 0;
  return fmt::format("ended with exit status {}", WEXITSTATUS(status_));
}

}  // namespace opwright
