// Other programs: find one, start one, or ask one something and read the answer.
//
//   auto answer = capture({"/usr/bin/python3", "-c", "print(1)"}, {.seconds = 10});
//   if (answer && answer->status == 0) use(answer->out);
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace opwright {

// A name with a slash is a path; another is looked up in `search_path`, which is a list like $PATH.
// Nothing when no executable file is there.
std::optional<std::string> find_program(std::string_view name, std::string_view search_path);

// "NAME=value" of this process.
std::vector<std::string> process_environment();

// Starts the program `path` with exactly these arguments (argv[0] is what it is called) and this environment, no signal
// blocked. Standard input, output and error are inherited where no descriptor is given; `more` become 3, 4, …
// The caller waits for it.
struct SpawnDescriptors {
  int in = -1, out = -1, err = -1;
  std::vector<int> more = {};
};
Result<pid_t> spawn(const std::string& path, const std::vector<std::string>& argv,
                    const std::vector<std::string>& environment, const SpawnDescriptors& descriptors = {});

struct Captured {
  int status = 0;  // exit status; 128 + signal when a signal ended it
  std::string out;
  std::string err;
};
struct CaptureOptions {
  double seconds = 30;                                  // then it is killed, with an error
  std::size_t max_bytes = std::size_t{16} << 20;        // of out and of err; what comes after is read and dropped
  std::optional<std::vector<std::string>> environment;  // none: that of this process
};
// Runs the program argv[0], a path, to its end, with nothing on its standard input.
Result<Captured> capture(const std::vector<std::string>& argv, const CaptureOptions& options = {});

// What waitpid() gave, as a shell would say it: the exit status, or 128 + signal.
int shell_status(int wait_status);

}  // namespace opwright
