// Runs the user's program as if it had been started from the shell: its own terminal, its own exit status.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "launch/environment.h"

namespace opwright::launch {

// The path of command[0], looked up in the program's own PATH. Says what to check when it is not there.
Result<std::string> find_command(const std::vector<std::string>& command, const Environment& environment);

struct Ended {
  int status = 0;  // as a shell gives it: the exit status, or 128 + signal
  int signal = 0;  // the signal that ended it; 0 when it ended by itself
};

// Runs it to its end. Input and output are inherited. While it runs, SIGINT, SIGTERM, SIGHUP and SIGQUIT do not end
// this process: they are passed on, and the program decides. What the terminal sends (Ctrl-C) the program gets from
// there, once, since it is in the same process group.
Result<Ended> run_program(const std::string& path, const std::vector<std::string>& command,
                          const Environment& environment);

// 11 -> "SIGSEGV, segmentation fault"
std::string signal_text(int signal);

}  // namespace opwright::launch
