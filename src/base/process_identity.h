// Which process it is: a number alone is given to another process when the first has ended. For files, stores and
// environments that outlive the process that wrote them.
//
//   const std::string me = to_text(own_identity());           // kept somewhere
//   if (life_of(*parse_identity(kept)) == Life::kGone) …      // later, by somebody else
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace opwright {

struct ProcessIdentity {
  std::uint64_t space = 0;  // pid namespace: a container counts its own processes
  pid_t pid = 0;
  std::uint64_t start = 0;  // ticks after the boot of the machine
  std::string boot;         // of the machine, the first digits of its id
  bool operator==(const ProcessIdentity&) const = default;
};

ProcessIdentity own_identity();
std::optional<ProcessIdentity> identity_of(pid_t pid);  // nothing when there is no such process, or a dead one

std::string to_text(const ProcessIdentity& identity);  // "4026531836-4711-998877-3fa9c1d2"
std::optional<ProcessIdentity> parse_identity(std::string_view text);

enum class Life : std::uint8_t {
  kAlive,
  kGone,
  kUnseen,  // of another container or another machine (or another boot of this one): nobody here can tell
};
Life life_of(const ProcessIdentity& identity);

// The process that started it; 0 when there is no such process.
pid_t parent_of(pid_t pid);

}  // namespace opwright
