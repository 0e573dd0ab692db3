#include "exec/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/input.h"
#include "base/subprocess.h"

namespace opwright {
namespace {

constexpr std::size_t kErrorTail = 4096;
constexpr std::size_t kLongestLine = std::size_t{64} << 20;  // beyond, it is no answer but garbage
constexpr int kKeeperMs = 15000;  // for the keeper of a device program to end all that it kept
constexpr int kDeepest = 8;       // generations of children that are looked at

void add_usage(pid_t pid, int depth, ProcessUsage& usage) {
  const std::string folder = fmt::format("/proc/{}", pid);
  long pages = 0, resident = 0;
  if (std::ifstream statm(folder + "/statm"); !(statm >> pages >> resident)) return;
  usage.resident += resident * sysconf(_SC_PAGESIZE);
  std::string stat;
  if (std::ifstream file(folder + "/stat"); std::getline(file, stat)) {
    // The name in parentheses may hold blanks; utime and stime are the 12th and 13th words behind it.
    std::istringstream words(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
    std::string word;
    long ticks = 0;
    for (int i = 1; i <= 13 && words >> word; ++i)
      if (i >= 12) ticks += std::atol(word.c_str());
    usage.cpu_seconds += static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }
  if (depth >= kDeepest) return;
  std::ifstream children(fmt::format("{}/task/{}/children", folder, pid));
  for (pid_t child = 0; children >> child;) add_usage(child, depth + 1, usage);
}

}  // namespace

ProcessUsage usage_of(pid_t pid) {
  ProcessUsage usage;
  add_usage(pid, 0, usage);
  return usage;
}

Result<WorkerProcess> WorkerProcess::start(const WorkerCommand& command) {
  int ends[2], errors[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(ErrorCode::kIo, fmt::format("cannot talk to a worker: {}", system_message(errno)));
  if (pipe2(errors, O_CLOEXEC | O_NONBLOCK) != 0) {
    close(ends[0]);
    close(ends[1]);
    return fail(ErrorCode::kIo, fmt::format("cannot hear a worker: {}", system_message(errno)));
  }
  // The worker's end of the error pipe must block: programs do not expect EAGAIN there.
  fcntl(errors[1], F_SETFL, fcntl(errors[1], F_GETFL) & ~O_NONBLOCK);
  const auto child = spawn(command.argv.at(0), command.argv, process_environment(), {ends[1], ends[1], errors[1]});
  close(ends[1]);
  close(errors[1]);
  WorkerProcess worker;
  worker.socket_ = ends[0];
  worker.errors_ = errors[0];
  if (!child) return tl::unexpected(child.error());
  worker.pid_ = *child;
  if (!worker.send(command.setup))
    return fail(ErrorCode::kIo, fmt::format("a worker ended at once: {}", worker.bury(true)));
  return worker;
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept { *this = std::move(other); }

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(socket_, other.socket_);
  std::swap(errors_, other.errors_);
  std::swap(partial_, other.partial_);
  std::swap(error_tail_, other.error_tail_);
  cases = other.cases;
  history = std::move(other.history);
  resident = other.resident;
  most_growth = other.most_growth;
  grower = std::move(other.grower);
  return *this;
}

WorkerProcess::~WorkerProcess() {
  if (pid_ > 0) bury(true);
  if (socket_ >= 0) close(socket_);
  if (errors_ >= 0) close(errors_);
}

bool WorkerProcess::send(std::string_view line) {
  std::string text(line);
  text += '\n';
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t count = ::send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

bool WorkerProcess::take(std::vector<std::string>& lines) {
  std::array<char, 65536> buffer;
  const ssize_t count = recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  if (count == 0) return false;
  partial_.append(buffer.data(), static_cast<std::size_t>(count));
  std::size_t from = 0;
  for (std::size_t end; (end = partial_.find('\n', from)) != std::string::npos; from = end + 1)
    lines.push_back(partial_.substr(from, end - from));
  partial_.erase(0, from);
  return partial_.size() <= kLongestLine;
}

void WorkerProcess::remember(Ran ran) {
  ++cases;
  history.push_front(std::move(ran));
  if (history.size() > kMostHistory) history.pop_back();
}

WorkerProcess::Farewell WorkerProcess::finish(double seconds, std::string_view goodbye) {
  Farewell said;
  shutdown(socket_, SHUT_WR);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!said.ended && std::chrono::steady_clock::now() < deadline) {
    pollfd waiting{socket_, POLLIN, 0};
    constexpr int kSlice = 20;
    if (poll(&waiting, 1, kSlice) <= 0) continue;
    said.ended = !take(said.lines);
    if (!said.lines.empty() && said.lines.back().find(goodbye) != std::string::npos) break;
  }
  return said;
}

void WorkerProcess::take_errors() {
  std::array<char, 16384> buffer;
  for (;;) {
    const ssize_t count = read(errors_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      if (count == 0) {
        close(errors_);
        errors_ = -1;
      }
      return;
    }
    error_tail_.append(buffer.data(), static_cast<std::size_t>(count));
    if (error_tail_.size() > kErrorTail) error_tail_.erase(0, error_tail_.size() - kErrorTail);
  }
}

ProcessUsage WorkerProcess::usage() const { return usage_of(pid_); }

std::string WorkerProcess::bury(bool kill_first) {
  if (pid_ <= 0) return "gone";
  int status = 0;
  pid_t ended = 0;
  if (!kill_first) {
    // Its output has ended: it is dying, and a core file or a sanitizer's report may take a moment.
    for (int i = 0; i < 500 && ended == 0; ++i) {
      ended = waitpid(pid_, &status, WNOHANG);
      if (ended == 0) poll(nullptr, 0, 10);
    }
  }
  kill(-pid_, SIGKILL);  // its group too
  if (ended == 0) {
    kill(pid_, SIGKILL);
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
  }
  pid_ = -1;
  // The keeper of a device program ends the program and all that it started when its worker is gone, and holds the
  // worker's standard error until that is done: the next worker finds the device free.
  constexpr int kSlice = 100;
  for (int waited = 0; errors_ >= 0 && waited < kKeeperMs; waited += kSlice) {
    take_errors();
    pollfd waiting{errors_, POLLIN, 0};
    if (errors_ >= 0 && poll(&waiting, 1, kSlice) > 0) waited -= kSlice;
  }
  if (WIFSIGNALED(status)) return fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("exit status {}", WEXITSTATUS(status));
}

}  // namespace opwright
