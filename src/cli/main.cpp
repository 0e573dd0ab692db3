#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>

#include "cli/command.h"
#include "launch/kernel_compiler.h"

int main(int argc, char** argv) {
  // On the mock device the ttnn library starts us hundreds of times under this name: first, and cheap.
  if (argc > 0 && opwright::launch::is_kernel_compiler(argv[0]))
    return opwright::launch::kernel_compiler({argv + 1, static_cast<std::size_t>(argc - 1)});
  std::ios::sync_with_stdio(false);
  std::signal(SIGPIPE, SIG_DFL);  // `opwright show | head` ends quietly
  // A file beyond `ulimit -f` is a failed write like any other. Ignoring the signal would be inherited by the user's
  // program; a handler is not.
  std::signal(SIGXFSZ, [](int) {});
  opwright::cli::CommandEnv env{.out = std::cout, .err = std::cerr};
  env.out_is_terminal = isatty(STDOUT_FILENO) != 0;
  env.err_is_terminal = isatty(STDERR_FILENO) != 0;
  if (winsize size{}; env.out_is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    env.width = size.ws_col;
  const char* store = std::getenv("OPWRIGHT_STORE");
  env.store = store != nullptr && *store != '\0' ? store : "opwright.db";
  const int code = opwright::cli::run_command_line(std::vector<std::string>(argv + 1, argv + argc), env);
  std::cout.flush();
  if (!std::cout) {
    std::cerr << "opwright: cannot write the output (disk full or closed?)\n";
    return env.status_is_programs ? code : opwright::cli::kExitFailed;
  }
  return code;
}
