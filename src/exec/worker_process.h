// A worker as its parent sees it: a child process that answers lines, may die, hang or eat memory, and can be replaced.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace opwright {

struct WorkerCommand {
  std::vector<std::string> argv;  // argv[0] is a path
  std::string setup;              // the first line that it gets
};

// What a process and its children hold and have used.
struct ProcessUsage {
  std::int64_t resident = 0;  // bytes
  double cpu_seconds = 0;
};

class WorkerProcess {
 public:
  static Result<WorkerProcess> start(const WorkerCommand& command);
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;
  ~WorkerProcess();  // kills it

  int answers() const { return socket_; }  // readable when there is something to take
  int errors() const { return errors_; }
  // False: it is gone.
  bool send(std::string_view line);
  // Appends the whole lines that came. False at the end of its output.
  bool take(std::vector<std::string>& lines);
  void take_errors();
  const std::string& error_tail() const { return error_tail_; }

  ProcessUsage usage() const;
  // Waits for the end of a process whose output has ended, or kills it and its group. "signal 11 (Segmentation fault)",
  // "exit status 3".
  std::string bury(bool kill_first);

  // Tells it that there is nothing more to do, and takes what it says to that: all of it, when `goodbye` is in it.
  // Nothing when it does not answer within `seconds`.
  struct Farewell {
    std::vector<std::string> lines;
    bool ended = false;  // its output ended
  };
  Farewell finish(double seconds, std::string_view goodbye);

  // Cases that it ran, and what the parent keeps of them.
  struct Ran {
    std::string line;  // of the job
    double seconds = 0;
  };
  static constexpr std::size_t kMostHistory = 256;
  int cases = 0;
  std::deque<Ran> history;       // the latest first
  void remember(Ran ran);        // a case that it has ended
  std::int64_t resident = 0;     // when its last case ended
  std::int64_t most_growth = 0;  // … and the case that kept most memory
  std::string grower;

 private:
  WorkerProcess() = default;
  pid_t pid_ = -1;
  int socket_ = -1;
  int errors_ = -1;
  std::string partial_;
  std::string error_tail_;
};

ProcessUsage usage_of(pid_t pid);

}  // namespace opwright
