// The process between us and a device program. It starts the program, takes in whatever the program forks (daemons too:
// orphans become its children), and ends all of them when the program ends, when we say so, and when we are gone,
// whichever way: it notices the end of the socket that it shares with us. It is this program, started anew: `keeper`.
//
// What is kept lies in a control group where one can be made, which is ended in one stroke; else processes are ended
// one by one, parents first, until none is left. docs/formats/device-protocol.md says what that cannot do.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace opwright {

inline constexpr std::string_view kKeeperVerb = "keeper";

struct KeeperOrder {
  std::string path;                      // of the program
  std::vector<std::string> argv;         // as the program sees it
  std::vector<std::string> environment;  // "NAME=value", all of it
  std::string folder;                    // removed at the end; "" none
};
std::string to_text(const KeeperOrder& order);

// What it says on the socket, one line each: "started" or "failed ERRNO", and at the end "ended STATUS LEFT".
struct KeeperReport {
  int status = 0;  // of the program, as waitpid() gives it
  int left = 0;    // processes that could not be ended
};
std::optional<KeeperReport> parse_keeper_report(std::string_view line);

// The keeper itself: the order comes over kKeeperSocket, the program's standard descriptors are the three behind it.
inline constexpr int kKeeperSocket = 3;
int keep_program();

// In a process that is a worker and nothing else: orphans of its children become its own, and end_left_behind() ends
// them too.
void adopt_orphans();
// Keepers that this process has: children that are none of these are such orphans.
void add_keeper(pid_t keeper);
void forget_keeper(pid_t keeper);
// Ends what keepers left behind that were killed themselves. A keeper does it before it starts a program.
void end_left_behind();

}  // namespace opwright
