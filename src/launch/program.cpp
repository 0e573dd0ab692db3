#include "launch/program.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/input.h"
#include "base/subprocess.h"

namespace opwright::launch {
namespace {

// The signals that end a program from outside, held back while it exists: they wait for next().
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&held_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD}) sigaddset(&held_, signal);
    sigprocmask(SIG_BLOCK, &held_, &before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() {
    // One that came after the program's end has nobody left to go to; without this it would end us before cleaning up.
    const timespec now{};
    while (sigtimedwait(&held_, nullptr, &now) > 0) {
    }
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  // The next signal; none after a while, because the system may give SIGCHLD to another thread, which drops it.
  siginfo_t next() const {
    constexpr timespec kAWhile{.tv_sec = 0, .tv_nsec = 50'000'000};
    siginfo_t info{};
    if (sigtimedwait(&held_, &info, &kAWhile) < 0) info.si_signo = 0;
    return info;
  }

 private:
  sigset_t held_{}, before_{};
};

}  // namespace

Result<std::string> find_command(const std::vector<std::string>& command, const Environment& environment) {
  const std::string& name = command.at(0);
  auto path = find_program(name, environment.get("PATH").value_or("/usr/local/bin:/usr/bin:/bin"));
  if (path) return *path;
  if (name.find('/') == std::string::npos) {
    return fail(ErrorCode::kNotFound,
                fmt::format("there is no program '{}' on PATH; is its environment (venv) active?", name));
  }
  if (access(name.c_str(), F_OK) == 0)
    return fail(ErrorCode::kNotFound, fmt::format("{} is not an executable file; start it with its interpreter, or "
                                                  "make it executable: chmod +x",
                                                  name));
  return fail(ErrorCode::kNotFound, fmt::format("there is no program {}; check the path", name));
}

Result<Ended> run_program(const std::string& path, const std::vector<std::string>& command,
                          const Environment& environment) {
  const HeldSignals signals;  // before the start, so that none is lost in between
  signal(SIGCHLD, SIG_DFL);   // where it is ignored, nobody could learn the exit status
  OPWRIGHT_TRY_ASSIGN(const pid_t child, spawn(path, command, environment.entries()));
  while (true) {
    const siginfo_t info = signals.next();
    if (info.si_signo != SIGCHLD && info.si_signo != 0) {
      if (info.si_code != SI_KERNEL) kill(child, info.si_signo);  // the kernel's own went to the whole group
      continue;
    }
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return Ended{shell_status(status), WIFSIGNALED(status) ? WTERMSIG(status) : 0};
    if (ended < 0 && errno != EINTR)
      return fail(ErrorCode::kIo, fmt::format("{}: lost sight of it: {}", path, system_message(errno)));
  }
}

std::string signal_text(int signal) {
  const char* name = sigabbrev_np(signal);
  const char* what = sigdescr_np(signal);
  if (name == nullptr || what == nullptr) return fmt::format("signal {}", signal);
  std::string text = what;
  text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return fmt::format("SIG{}, {}", name, text);
}

}  // namespace opwright::launch
