#include "device/external/control_group.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "base/process_identity.h"

namespace opwright {
namespace {

constexpr std::string_view kPrefix = "opwright-";

// The folder of the group that this process is in.
std::optional<std::string> own_group() {
  std::string own;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);)
    if (line.starts_with("0::/")) own = line.substr(3);
  if (own.empty()) return std::nullopt;
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    const std::size_t kind = line.find(" - cgroup2 ");
    if (kind == std::string::npos) continue;
    std::istringstream words(line.substr(0, kind));
    std::string number, parent, device, root, folder;
    if (!(words >> number >> parent >> device >> root >> folder)) continue;
    // What is mounted may be a part of the tree, as a container sees it.
    std::string below = own;
    if (root != "/") {
      if (!own.starts_with(root)) continue;
      below = own.substr(root.size());
    }
    while (!below.empty() && below.back() == '/') below.pop_back();
    return folder + below;
  }
  return std::nullopt;
}

void write_word(const std::string& path, std::string_view word) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  (void)!write(file, word.data(), word.size());
  close(file);
}

bool is_empty(const std::string& group) {
  std::ifstream events(group + "/cgroup.events");
  for (std::string line; std::getline(events, line);)
    if (line == "populated 0") return true;
  return !events.is_open();
}

void kill_group(const std::string& group) {
  if (access((group + "/cgroup.kill").c_str(), W_OK) == 0) return write_word(group + "/cgroup.kill", "1");
  // Before Linux 5.14: frozen first, so that nobody forks while we go through the list.
  write_word(group + "/cgroup.freeze", "1");
  std::ifstream members(group + "/cgroup.procs");
  for (pid_t pid = 0; members >> pid;)
    if (pid > 1) kill(pid, SIGKILL);
  write_word(group + "/cgroup.freeze", "0");
}

}  // namespace

std::optional<ControlGroup> ControlGroup::make(const std::string& name) {
  if (const char* wanted = std::getenv("OPWRIGHT_CGROUP"); wanted != nullptr && std::string_view(wanted) == "off")
    return std::nullopt;
  const auto own = own_group();
  if (!own) return std::nullopt;
  ControlGroup made;
  std::string path = fmt::format("{}/{}{}", *own, kPrefix, name);
  if (mkdir(path.c_str(), S_IRWXU) != 0) return std::nullopt;
  made.path_ = std::move(path);
  made.members_ = open((made.path_ + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
  if (made.members_ < 0) return std::nullopt;
  return made;
}

ControlGroup::ControlGroup(ControlGroup&& other) noexcept
    : path_(std::exchange(other.path_, "")), members_(std::exchange(other.members_, -1)) {}

ControlGroup::~ControlGroup() {
  if (members_ >= 0) close(members_);
  if (!path_.empty()) (void)rmdir(path_.c_str());
}

void ControlGroup::kill_all() const { kill_group(path_); }
bool ControlGroup::empty() const { return is_empty(path_); }

void end_left_behind_groups() {
  const auto own = own_group();
  DIR* listing = own ? opendir(own->c_str()) : nullptr;
  if (listing == nullptr) return;
  std::vector<std::string> found;
  while (const dirent* entry = readdir(listing)) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with(kPrefix)) continue;
    const auto keeper = parse_identity(name.substr(kPrefix.size()));
    if (keeper && life_of(*keeper) == Life::kGone) found.push_back(fmt::format("{}/{}", *own, name));
  }
  closedir(listing);
  for (const std::string& group : found) {
    if (!is_empty(group)) kill_group(group);
    (void)rmdir(group.c_str());  // one whose members still die goes the next time
  }
}

}  // namespace opwright
