// Which Python the user's command will run in, and what that Python has installed.
//
// The library's files are found through the interpreter that will use them, so the interpreter is asked, once, in a
// short process of its own; `ttnn` is looked for, not imported. No code of the current folder or of a PYTHONPATH runs
// there: whoever asks what is installed has not said that the files beside him may run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "launch/environment.h"

namespace opwright::launch {

// A program on PATH that we choose, not the user: only entries that are absolute paths count, never the current folder.
std::optional<std::string> find_installed(std::string_view name, const Environment& environment);

// How `why` of a choice begins, or is.
inline constexpr std::string_view kCommandIsPython = "the command is this Python";
inline constexpr std::string_view kFirstLine = "first line of ";

struct PythonChoice {
  std::vector<std::string> argv;  // how to start it: a path, or a tool that chooses one (`uv run python`)
  std::string why;                // "the command is a Python", "first line of /opt/venv/bin/pytest", …
};

// The interpreter of a command: the command itself, the one its first line names, a Python among its words, or (also
// for an empty command) `python3` or `python` on PATH.
Result<PythonChoice> choose_python(const std::vector<std::string>& command, const Environment& environment);

// Whether the command is a Python that is told (-I, -E, -S) not to load what a variable names: our package.
bool is_isolated_python(const std::vector<std::string>& command);

struct PythonProbe {
  std::string why;              // why this one
  std::string executable;       // as it names itself
  std::string version;          // "3.10.13"
  std::string ttnn_version;     // "" when it is not installed, or says no version
  std::string ttnn_folder;      // of the package; "" when it is not there
  std::string torch_version;    // "" when it is not there
  std::string tracy_folder;     // of the library's profiler, a module; "" when it is not there
  bool ttnn_is_package = true;  // false: only a folder of that name is on its path
};

Result<PythonProbe> probe_python(const PythonChoice& python, const Environment& environment);

// Why the mock device cannot work with this Python, and what to do; nothing when it can.
Status check_ttnn(const PythonProbe& probe);

// Whether the installed library is older than 0.`minor`. One that says no usable version (built from source) is new.
bool ttnn_is_before(const PythonProbe& probe, int minor);

// choose, probe, check. With no command to go by, a `python` that has ttnn is taken before a `python3` that has not.
Result<PythonProbe> find_ttnn(const std::vector<std::string>& command, const Environment& environment);

}  // namespace opwright::launch
