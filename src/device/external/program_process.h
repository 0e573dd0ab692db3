// The process of a device program: a line to it, a line from it, the end of what it wrote to standard error, and how it
// ended. It has a process group of its own, so that Ctrl-C is for us alone. Between it and us stands a keeper
// (keeper.h): nothing that the program started outlives the program, or us.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "device/external/device_program.h"

namespace opwright {

class ProgramProcess {
 public:
  // `folder` is that of the files which the program hands over; the keeper removes it when all is over.
  static Result<ProgramProcess> start(const DeviceProgram& program, const std::string& folder = "");
  ProgramProcess(ProgramProcess&& other) noexcept;
  ProgramProcess& operator=(ProgramProcess&&) = delete;
  ~ProgramProcess();  // kills what is left of it

  // Writes `line` (none when empty) and waits for the next line of its output; `seconds` 0: as long as it takes.
  // Nothing when its output ended, no line came in time, or the line grew beyond all reason: `problem` says which.
  std::optional<std::string> exchange(std::string_view line, double seconds, std::string& problem);
  // A line that came after the last one without being asked for; nothing when there is none. `ended`: and none will
  // come. Does not wait.
  std::optional<std::string> unasked(bool& ended);
  // Closes its input, gives it `seconds` to leave and kills it and all that it started then.
  void end(double seconds);
  // "SIGSEGV, segmentation fault", "exit status 3"; waits for it, since it is known to be ending. `crashed`: by a
  // signal, or with a status other than 0.
  std::string how_it_ended(bool& crashed);
  // The last 2 kB of its standard error.
  const std::string& error_tail() const { return tail_; }
  // Processes that it started and that nobody could end (of another user, or held by a driver).
  int left() const { return left_; }

 private:
  ProgramProcess() = default;
  enum class Read { kSome, kNothing, kEnd };
  Read read_output();
  Read read_errors();
  bool write_some();
  std::optional<std::string> take_line();  // of what was received
  void close_all();
  bool wait(double seconds);
  void hear_keeper();

  pid_t keeper_ = -1;
  int control_ = -1;                   // to the keeper; its end means to it: end everything
  int in_ = -1, out_ = -1, err_ = -1;  // our ends
  int status_ = 0;                     // of the program as of waitpid, when keeper_ is -1 again
  int left_ = 0;
  std::string heard_;    // from the keeper
  std::string pending_;  // of a line to it
  std::string received_;
  std::size_t searched_ = 0;  // of received_: no end of line before
  std::string tail_;
};

}  // namespace opwright
