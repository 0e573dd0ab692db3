#include "launch/watched_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <optional>

#include "base/input.h"
#include "base/process_identity.h"
#include "base/subprocess.h"

namespace opwright::launch {
namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr std::array kHeard{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};

// Signals as something to read, held back while it exists.
class SignalFile {
 public:
  SignalFile() {
    sigset_t heard;
    sigemptyset(&heard);
    for (const int signal : kHeard) sigaddset(&heard, signal);
    sigprocmask(SIG_BLOCK, &heard, &before_);
    descriptor_ = signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  SignalFile(const SignalFile&) = delete;
  SignalFile& operator=(const SignalFile&) = delete;
  ~SignalFile() {
    while (next()) {
    }
    if (descriptor_ >= 0) close(descriptor_);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  int descriptor() const { return descriptor_; }
  std::optional<signalfd_siginfo> next() const {
    signalfd_siginfo info{};
    if (read(descriptor_, &info, sizeof info) != sizeof info) return std::nullopt;
    return info;
  }

 private:
  int descriptor_ = -1;
  sigset_t before_{};
};

class File {  // closed at the end
 public:
  explicit File(int number) : number_(number) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { reset(); }
  void reset() {
    if (number_ >= 0) close(number_);
    number_ = -1;
  }
  int get() const { return number_; }

 private:
  int number_;
};

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  std::ifstream file(fmt::format("/proc/{0}/task/{0}/children", parent));
  for (pid_t child = 0; file >> child;) children.push_back(child);
  return children;
}

// Parents first, so that none starts another meanwhile that nobody sees: orphans come to us and are found again.
void kill_below(pid_t parent) {
  for (const pid_t child : children_of(parent)) {
    if (parent_of(child) != parent) continue;
    kill(child, SIGKILL);
    kill_below(child);
  }
}

class Watch {
 public:
  Watch(pid_t child, int output, int log, const WatchRules& rules, const std::function<void(std::string_view)>& told)
      : child_(child), output_(output), log_(log), rules_(rules), told_(told) {}

  Result<WatchedEnd> run(const SignalFile& signals) {
    while (true) {
      listen(signals);
      if (!log_error_.empty() && !asked_) ask_to_end(SIGTERM);
      const bool some_left = reap();
      const double now = since(start_);
      if (!status_) {
        if (!asked_ && now > rules_.total_seconds) stop(Stopped::kTooLong);
        if (!asked_ && since(heard_) > rules_.silent_seconds) stop(Stopped::kSilent);
        if (asked_ && since(*asked_) > rules_.end_seconds) kill_below(getpid());
        continue;
      }
      if (!ended_) {
        ended_ = Clock::now();
        end_.waited_for = some_left ? children_of(getpid()).size() : 0;
      }
      if (!some_left) break;
      if (asked_ || since(*ended_) > rules_.late_seconds) {
        end_.killed = std::max(end_.killed, children_of(getpid()).size());
        kill_below(getpid());
      }
    }
    listen(signals);  // its last words
    if (!log_error_.empty()) return fail(ErrorCode::kIo, log_error_);
    end_.ended = {shell_status(*status_), WIFSIGNALED(*status_) ? WTERMSIG(*status_) : 0};
    end_.seconds = since(start_);
    return end_;
  }

 private:
  void stop(Stopped why) {
    end_.stopped = why;
    ask_to_end(SIGTERM);
  }

  void ask_to_end(int signal) {
    asked_ = Clock::now();
    kill(child_, signal);
  }

  void listen(const SignalFile& signals) {
    std::array<pollfd, 2> waiting{{{signals.descriptor(), POLLIN, 0}, {output_.get(), POLLIN, 0}}};
    poll(waiting.data(), output_.get() >= 0 ? 2 : 1, 50);
    while (const auto info = signals.next()) {
      const int signal = static_cast<int>(info->ssi_signo);
      if (signal == SIGCHLD || status_) continue;
      end_.stopped = Stopped::kInterrupted;
      if (info->ssi_code != SI_KERNEL) kill(child_, signal);  // the kernel's own went to the whole group
      if (!asked_) asked_ = Clock::now();
    }
    while (output_.get() >= 0) {
      std::array<char, 65536> buffer;
      const ssize_t count = read(output_.get(), buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count == 0) output_.reset();
      if (count <= 0) break;
      heard_ = Clock::now();
      const std::string_view text(buffer.data(), static_cast<std::size_t>(count));
      keep(text);
      told_(text);
    }
  }

  void keep(std::string_view text) {
    while (!text.empty() && log_error_.empty()) {
      const ssize_t count = write(log_.get(), text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0)
        log_error_ = fmt::format("{}: {}; the program was ended, because nothing of it could be kept", rules_.log,
                                 system_message(errno));
      else
        text.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  // Takes in what died. False when no child is left.
  bool reap() {
    while (true) {
      int status = 0;
      const pid_t pid = waitpid(-1, &status, WNOHANG);
      if (pid == child_) status_ = status;
      if (pid == 0) return true;
      if (pid < 0 && errno != EINTR) return false;
    }
  }

  pid_t child_;
  File output_, log_;
  const WatchRules& rules_;
  const std::function<void(std::string_view)>& told_;
  Clock::time_point start_ = Clock::now(), heard_ = start_;
  std::optional<Clock::time_point> asked_, ended_;
  std::optional<int> status_;
  std::string log_error_;
  WatchedEnd end_;
};

}  // namespace

Result<WatchedEnd> run_watched(const std::string& path, const std::vector<std::string>& command,
                               const Environment& environment, const WatchRules& rules,
                               const std::function<void(std::string_view)>& output) {
  const int log = open(rules.log.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (log < 0) return fail(ErrorCode::kIo, fmt::format("{}: {}", rules.log, system_message(errno)));
  File log_file(log);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return fail(ErrorCode::kIo, fmt::format("cannot make a pipe: {}", system_message(errno)));
  File read_end(ends[0]), write_end(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  const SignalFile signals;  // before the start, so that none is lost in between
  signal(SIGCHLD, SIG_DFL);  // where it is ignored, nobody could learn the exit status
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  OPWRIGHT_TRY_ASSIGN(const pid_t child, spawn(path, command, environment.entries(), {.out = ends[1], .err = ends[1]}));
  write_end.reset();
  return Watch(child, dup(ends[0]), dup(log), rules, output).run(signals);
}

}  // namespace opwright::launch
