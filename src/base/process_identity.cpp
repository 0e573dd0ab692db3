#include "base/process_identity.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <fstream>
#include <sstream>
#include <vector>

namespace opwright {
namespace {

// What /proc/PID/stat says behind the name, which stands in parentheses and may hold blanks and parentheses.
struct Stat {
  std::string state;
  pid_t parent = 0;
  std::uint64_t start = 0;
};

std::optional<Stat> stat_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream words(text.substr(name_end + 1));
  Stat stat;
  if (!(words >> stat.state >> stat.parent)) return std::nullopt;
  std::string skipped;
  for (int i = 0; i < 17; ++i) words >> skipped;  // the start is the 20th word
  if (!(words >> stat.start)) return std::nullopt;
  return stat;
}

std::uint64_t own_space() {
  struct stat info{};
  return stat("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id.substr(0, 8);
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::optional<ProcessIdentity> identity_of(pid_t pid) {
  const auto stat = stat_of(pid);
  if (!stat || stat->state == "Z" || stat->state == "X") return std::nullopt;
  return ProcessIdentity{own_space(), pid, stat->start, boot_id()};
}

ProcessIdentity own_identity() {
  // Without /proc nothing can be told later either: the parts that are missing say so.
  return identity_of(getpid()).value_or(ProcessIdentity{own_space(), getpid(), 0, boot_id()});
}

std::string to_text(const ProcessIdentity& identity) {
  return fmt::format("{}-{}-{}-{}", identity.space, identity.pid, identity.start, identity.boot);
}

std::optional<ProcessIdentity> parse_identity(std::string_view text) {
  std::array<std::string_view, 4> parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t dash = i + 1 < parts.size() ? text.find('-') : text.size();
    if (dash == std::string_view::npos) return std::nullopt;
    parts[i] = text.substr(0, dash);
    text.remove_prefix(std::min(text.size(), dash + 1));
  }
  ProcessIdentity identity;
  if (!read_number(parts[0], identity.space) || !read_number(parts[1], identity.pid) ||
      !read_number(parts[2], identity.start) || identity.pid <= 0)
    return std::nullopt;
  identity.boot = parts[3];
  return identity;
}

Life life_of(const ProcessIdentity& identity) {
  if (identity.boot != boot_id() || identity.space != own_space()) return Life::kUnseen;
  const auto now = identity_of(identity.pid);
  return now && now->start == identity.start ? Life::kAlive : Life::kGone;
}

pid_t parent_of(pid_t pid) {
  const auto stat = stat_of(pid);
  return stat ? stat->parent : 0;
}

}  // namespace opwright
