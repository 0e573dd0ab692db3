#include "device/external/keeper.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <mutex>
#include <set>
#include <sstream>

#include "base/process_identity.h"
#include "device/external/control_group.h"
#include "device/external/device_folder.h"

namespace opwright {
namespace {

// In the environment of the program and of what it forks: whose they are, when the keeper is no more.
constexpr std::string_view kMark = "OPWRIGHT_KEEPER=";
constexpr double kPatience = 10;  // for processes to die of a SIGKILL
constexpr int kDeepest = 64;      // generations that are looked at in one round

bool adopts_orphans = false;
std::mutex keepers_mutex;
std::set<pid_t> keepers;

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> out;
  std::ifstream file(fmt::format("/proc/{}/task/{}/children", pid, pid));
  if (file.is_open()) {
    for (pid_t child = 0; file >> child;) out.push_back(child);
    return out;
  }
  // A kernel without that file.
  DIR* listing = opendir("/proc");
  if (listing == nullptr) return out;
  while (const dirent* entry = readdir(listing))
    if (const pid_t other = std::atoi(entry->d_name); other > 0 && parent_of(other) == pid) out.push_back(other);
  closedir(listing);
  return out;
}

// A process held fast: its number cannot become another's while we look at it.
class HeldProcess {
 public:
  explicit HeldProcess(pid_t pid) : descriptor_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {}
  HeldProcess(const HeldProcess&) = delete;
  HeldProcess& operator=(const HeldProcess&) = delete;
  ~HeldProcess() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  bool good() const { return descriptor_ >= 0; }
  void kill() const { syscall(SYS_pidfd_send_signal, descriptor_, SIGKILL, nullptr, 0); }

 private:
  int descriptor_;
};

// Ends the children of `parent` and theirs. A child of ours keeps its number until we wait for it; of others we make
// sure that the number is still that of a descendant.
void kill_below(pid_t parent, int depth) {
  if (depth > kDeepest) return;
  for (const pid_t child : children_of(parent)) {
    const HeldProcess held(child);
    if (held.good() && parent_of(child) == parent) {
      kill_below(child, depth + 1);
      held.kill();
    } else if (!held.good() && parent == getpid()) {
      kill(child, SIGKILL);  // a kernel before 5.3
    }
  }
}

// Takes in what died. False when no child is left.
bool reap(pid_t program, std::optional<int>& status) {
  int ended = 0;
  for (;;) {
    const pid_t child = waitpid(-1, &ended, WNOHANG);
    if (child == program) status = ended;
    if (child == 0) return true;
    if (child < 0 && errno != EINTR) return false;
  }
}

int end_all(pid_t program, const ControlGroup* group, std::optional<int>& status) {
  const auto start = Clock::now();
  while (true) {
    if (group != nullptr && !group->empty()) group->kill_all();
    kill_below(getpid(), 0);
    const bool some = reap(program, status);
    if (!some && (group == nullptr || group->empty())) return 0;
    if (since(start) > kPatience) return static_cast<int>(children_of(getpid()).size());
    poll(nullptr, 0, 1);
  }
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));  // execve does not write
  result.push_back(nullptr);
  return result;
}

// The child, between fork and exec.
[[noreturn]] void become(const KeeperOrder& order, const ControlGroup* group, pid_t keeper, int error_pipe) {
  setpgid(0, 0);  // so that Ctrl-C is for our client alone
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (group != nullptr) (void)!write(group->members(), "0", 1);
  const std::vector<char*> argv = pointers(order.argv);
  const std::vector<char*> environment = pointers(order.environment);
  if (getppid() == keeper) {
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
    for (int target = 0; target < 3; ++target) good = good && dup2(kKeeperSocket + 1 + target, target) == target;
    if (good) {
      for (int i = 0; i < 4; ++i) fcntl(kKeeperSocket + i, F_SETFD, FD_CLOEXEC);
      execve(order.path.c_str(), argv.data(), environment.data());
    }
  }
  const int error = errno;
  (void)!write(error_pipe, &error, sizeof error);
  _exit(127);
}

void say(const std::string& line) { (void)!send(kKeeperSocket, line.data(), line.size(), MSG_NOSIGNAL); }

std::optional<std::string> receive_order() {
  std::string text;
  std::size_t wanted = 0;
  char buffer[65536];
  while (true) {
    if (wanted == 0 && text.size() >= sizeof wanted) std::memcpy(&wanted, text.data(), sizeof wanted);
    if (wanted != 0 && text.size() >= wanted + sizeof wanted) return text.substr(sizeof wanted, wanted);
    const ssize_t count = recv(kKeeperSocket, buffer, sizeof buffer, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

// Words that end with NUL: how many of argv, then all.
std::optional<KeeperOrder> parse_order(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t end; (end = text.find('\0')) != std::string_view::npos; text.remove_prefix(end + 1))
    words.emplace_back(text.substr(0, end));
  std::size_t arguments = 0;
  if (words.size() < 3) return std::nullopt;
  const std::string& number = words[0];
  std::from_chars(number.data(), number.data() + number.size(), arguments);
  if (arguments == 0 || words.size() < 3 + arguments) return std::nullopt;
  KeeperOrder order{.path = words[1], .folder = words[2]};
  const auto first = words.begin() + 3;
  order.argv.assign(first, first + static_cast<std::ptrdiff_t>(arguments));
  order.environment.assign(first + static_cast<std::ptrdiff_t>(arguments), words.end());
  return order;
}

std::string environment_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/environ", pid), std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return '\0' + text;
}

// The keeper that a process says it has.
std::optional<ProcessIdentity> keeper_of(pid_t pid) {
  const std::string text = environment_of(pid);
  const std::size_t at = text.find('\0' + std::string(kMark));
  if (at == std::string::npos) return std::nullopt;
  const std::size_t begin = at + 1 + kMark.size();
  return parse_identity(std::string_view(text).substr(begin, text.find('\0', begin) - begin));
}

bool was_left_behind(pid_t pid) {
  const auto keeper = keeper_of(pid);
  return keeper && life_of(*keeper) == Life::kGone;
}

}  // namespace

std::string to_text(const KeeperOrder& order) {
  std::string text;
  const auto add = [&](std::string_view word) { text.append(word).push_back('\0'); };
  add(std::to_string(order.argv.size()));
  add(order.path);
  add(order.folder);
  for (const std::string& word : order.argv) add(word);
  for (const std::string& entry : order.environment) add(entry);
  const std::size_t size = text.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + text;
}

std::optional<KeeperReport> parse_keeper_report(std::string_view line) {
  std::istringstream words{std::string(line)};
  std::string word;
  KeeperReport report;
  if (words >> word >> report.status >> report.left && word == "ended") return report;
  return std::nullopt;
}

void add_keeper(pid_t keeper) {
  const std::lock_guard lock(keepers_mutex);
  keepers.insert(keeper);
}

void forget_keeper(pid_t keeper) {
  const std::lock_guard lock(keepers_mutex);
  keepers.erase(keeper);
}

void adopt_orphans() { adopts_orphans = prctl(PR_SET_CHILD_SUBREAPER, 1) == 0; }

void end_left_behind() {
  end_left_behind_groups();
  if (adopts_orphans) {
    const std::lock_guard lock(keepers_mutex);
    for (const pid_t child : children_of(getpid())) {
      if (keepers.contains(child)) continue;
      kill_below(child, 0);
      kill(child, SIGKILL);  // ours until we wait for it: the number cannot be another's
    }
  }
  DIR* listing = opendir("/proc");
  if (listing == nullptr) return;
  while (const dirent* entry = readdir(listing)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid <= 1 || pid == getpid() || !was_left_behind(pid)) continue;
    const HeldProcess held(pid);
    if (held.good() && was_left_behind(pid)) held.kill();  // asked again: now the number cannot change
  }
  closedir(listing);
}

int keep_program() {
  // Everything that is ours to hear: the end of children, and people who ask us to go.
  sigset_t heard;
  sigemptyset(&heard);
  for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT}) sigaddset(&heard, number);
  sigprocmask(SIG_BLOCK, &heard, nullptr);
  signal(SIGPIPE, SIG_IGN);
  setpgid(0, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const auto text = receive_order();
  auto order = text ? parse_order(*text) : std::nullopt;
  if (!order) return 3;
  end_left_behind();
  const std::string me = to_text(own_identity());
  std::erase_if(order->environment, [](const std::string& entry) { return entry.starts_with(kMark); });
  order->environment.push_back(std::string(kMark) + me);

  int error = 0;
  std::optional<int> status;
  int left = 0;
  {
    const auto group = ControlGroup::make(me);
    const ControlGroup* members = group ? &*group : nullptr;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return 3;
    const pid_t keeper = getpid();
    const pid_t program = fork();
    if (program == 0) become(*order, members, keeper, ends[1]);
    error = program < 0 ? errno : 0;
    close(ends[1]);
    while (program > 0 && read(ends[0], &error, sizeof error) < 0 && errno == EINTR) {
    }
    close(ends[0]);
    for (int i = 1; i < 4; ++i) close(kKeeperSocket + i);
    say(error != 0 ? fmt::format("failed {}\n", error) : "started\n");
    const int signals = signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK);
    for (bool on = error == 0; on && !status;) {
      pollfd waiting[] = {{kKeeperSocket, POLLIN, 0}, {signals, POLLIN, 0}};
      poll(waiting, 2, -1);
      if (waiting[0].revents != 0) break;  // a word or the end of our client: all the same
      signalfd_siginfo info{};
      while (read(signals, &info, sizeof info) == sizeof info)
        if (info.ssi_signo != SIGCHLD) on = false;
      reap(program, status);
    }
    left = end_all(program, members, status);
  }
  if (!order->folder.empty()) remove_folder(order->folder);
  if (error == 0) say(fmt::format("ended {} {}\n", status.value_or(SIGKILL), left));
  return 0;
}

}  // namespace opwright
