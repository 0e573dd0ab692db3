#include "launch/python_probe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <optional>

#include "base/subprocess.h"
#include "base/text.h"

namespace opwright::launch {
namespace {

constexpr int kFirstMinor = 68;       // every version was tried: docs/how-to/run-without-hardware.md
constexpr double kProbeSeconds = 60;  // a cold disk under load; the usual time is 0.05 s

// The user's PYTHONPATH, for the probe to look at: Python itself does not see it.
constexpr char kPathVariable[] = "OPWRIGHT_PROBE_PATH";

// Parses in Python 2, too, so that such a one can say its version. Lines have a mark, because a sitecustomize may
// print. Python puts '' on the path for -c, the current folder: it goes before anything is imported from there. Modules
// of the user's are looked for, never executed.
constexpr char kProbeProgram[] = R"(
import sys
sys.path[:] = [entry for entry in sys.path if entry]
import os
def say(key, value):
    sys.stdout.write("opwright-probe %s=%s\n" % (key, value))
say("version", "%d.%d.%d" % tuple(sys.version_info[:3]))
say("executable", sys.executable)
try:
    from importlib import machinery, metadata, util
except ImportError:
    sys.exit(0)
first = os.environ.get("OPWRIGHT_PROBE_PATH")
first = [os.path.abspath(entry) for entry in first.split(os.pathsep)] if first else []
def find(name):
    found = machinery.PathFinder.find_spec(name, first) if first else None
    if found is not None and found.origin and found.origin != "namespace":
        return found
    return util.find_spec(name) or found
def look(name):
    try:
        spec = find(name)
    except (ImportError, ValueError, AttributeError):
        return
    if spec is None:
        return
    try:
        for distribution in metadata.distributions(name=name, path=first + sys.path):
            say(name + "_version", distribution.version)
            break
    except Exception:
        pass
    if spec.origin and spec.origin != "namespace":
        say(name + "_folder", os.path.dirname(os.path.abspath(spec.origin)))
    elif spec.submodule_search_locations:
        say(name + "_bare", list(spec.submodule_search_locations)[0])
look("ttnn")
look("torch")
look("tracy")
)";

// The environment of a probe: of the variables that lead Python to code, only those that say where it is installed.
std::vector<std::string> probe_environment(const Environment& environment) {
  constexpr std::array<std::string_view, 4> kKept{
      "PYTHONHOME=", "PYTHONPLATLIBDIR=", "PYTHONUSERBASE=", "PYTHONNOUSERSITE="};
  std::vector<std::string> entries;
  for (const std::string& entry : environment.entries()) {
    const bool is_kept = std::any_of(kKept.begin(), kKept.end(), [&](auto name) { return entry.starts_with(name); });
    if (!entry.starts_with("PYTHON") || is_kept) entries.push_back(entry);
  }
  if (const auto path = environment.get("PYTHONPATH"); path && !path->empty())
    entries.push_back(fmt::format("{}={}", kPathVariable, *path));
  return entries;
}

std::string_view base_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

// python, python3, python3.10, python3.13t
bool is_python_name(std::string_view word) {
  std::string_view name = base_name(word);
  if (!name.starts_with("python")) return false;
  name.remove_prefix(6);
  if (!name.empty() && (name.back() == 't' || name.back() == 'd')) name.remove_suffix(1);
  return name.find_first_not_of("0123456789.") == std::string_view::npos;
}

std::string search_path(const Environment& environment) {
  return environment.get("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!(text = trimmed(text)).empty()) {
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

// The Python that the first lines of a script name; nothing when it is no Python script.
std::optional<std::string> python_of_script(const std::string& path, const Environment& environment) {
  std::ifstream file(path, std::ios::binary);
  std::string first, second;
  if (!std::getline(file, first) || !first.starts_with("#!")) return std::nullopt;
  std::getline(file, second);
  std::vector<std::string> words = words_of(std::string_view(first).substr(2));
  if (words.empty()) return std::nullopt;
  if (is_python_name(words[0])) return find_program(words[0], search_path(environment));
  if (base_name(words[0]) == "env") {  // #!/usr/bin/env -S NAME=value python3 -u
    const auto program = std::find_if(words.begin() + 1, words.end(), [](const std::string& word) {
      return !word.starts_with('-') && word.find('=') == std::string::npos;
    });
    if (program != words.end() && is_python_name(*program)) return find_program(*program, search_path(environment));
    return std::nullopt;
  }
  // pip writes this where the path is too long for a first line: '''exec' "/a long/path/python" "$0" "$@"
  constexpr std::string_view kExec = "'''exec' ";
  if (!second.starts_with(kExec)) return std::nullopt;
  std::string_view rest = std::string_view(second).substr(kExec.size());
  const bool quoted = rest.starts_with('"');
  if (quoted) rest.remove_prefix(1);
  const std::string python(rest.substr(0, rest.find(quoted ? '"' : ' ')));
  return is_python_name(python) ? find_program(python, search_path(environment)) : std::nullopt;
}

// Tools that run a command in an environment of their choice: `uv run pytest`. They are asked for that environment's.
std::optional<PythonChoice> python_of_tool(const std::vector<std::string>& command, const std::string& path) {
  constexpr std::array<std::string_view, 5> kTools{"uv", "poetry", "pdm", "pipenv", "hatch"};
  const std::string_view tool = base_name(command[0]);
  if (command.size() < 2 || command[1] != "run" || std::find(kTools.begin(), kTools.end(), tool) == kTools.end())
    return std::nullopt;
  const auto python = std::find_if(command.begin() + 2, command.end(), is_python_name);
  std::vector<std::string> argv{path, "run"};
  if (python == command.end())
    argv.emplace_back("python");
  else
    argv.insert(argv.end(), command.begin() + 2, python + 1);
  return PythonChoice{std::move(argv), fmt::format("the one that '{} run' chooses", tool)};
}

std::vector<PythonChoice> pythons_on_path(const Environment& environment) {
  std::vector<PythonChoice> found;
  for (const std::string_view name : {"python3", "python"}) {
    if (const auto path = find_installed(name, environment))
      found.push_back({{*path}, fmt::format("{} on PATH", name)});
  }
  return found;
}

Error no_python() {
  return {ErrorCode::kNotFound,
          "there is no Python on PATH; install one that ttnn has wheels for (3.10 or 3.12), then ttnn with it: "
          "python3 -m pip install ttnn"};
}

// The Python that the command itself tells; nothing when any may be meant (a shell script, no command).
std::optional<PythonChoice> python_of_command(const std::vector<std::string>& command, const Environment& environment) {
  if (command.empty()) return std::nullopt;
  const auto path = find_program(command[0], search_path(environment));
  if (!path) return std::nullopt;
  if (is_python_name(command[0])) return PythonChoice{{*path}, std::string(kCommandIsPython)};
  if (auto choice = python_of_tool(command, *path)) return choice;
  if (const auto python = python_of_script(*path, environment))
    return PythonChoice{{*python}, fmt::format("{}{}", kFirstLine, *path)};
  for (std::size_t i = 1; i < command.size(); ++i) {  // `env A=b python x.py`, `timeout 60 python x.py`
    if (!is_python_name(command[i])) continue;
    if (const auto python = find_program(command[i], search_path(environment)))
      return PythonChoice{{*python}, fmt::format("a word of the command: {}", command[i])};
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_installed(std::string_view name, const Environment& environment) {
  const std::string all = search_path(environment);
  std::string absolute;
  for (std::string_view rest = all; !rest.empty();) {
    const std::string_view entry = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    if (entry.starts_with('/')) absolute += fmt::format("{}{}", absolute.empty() ? "" : ":", entry);
  }
  return absolute.empty() ? std::nullopt : find_program(name, absolute);
}

bool is_isolated_python(const std::vector<std::string>& command) {
  if (command.empty() || !is_python_name(command[0])) return false;
  for (std::size_t i = 1; i < command.size(); ++i) {
    const std::string_view word = command[i];
    if (word.size() < 2 || word[0] != '-' || word == "--") return false;  // the program begins
    if (word[1] == '-') {
      if (word == "--check-hash-based-pycs") ++i;  // and its value
      continue;
    }
    for (std::size_t letter = 1; letter < word.size(); ++letter) {
      switch (word[letter]) {
        case 'I':
        case 'E':
        case 'S':
          return true;
        case 'c':
        case 'm':
          return false;  // the program begins
        case 'W':
        case 'X':  // with a value: the rest of the word, else the next one
          if (letter + 1 == word.size()) ++i;
          letter = word.size();
          break;
        default:
          break;
      }
    }
  }
  return false;
}

Result<PythonChoice> choose_python(const std::vector<std::string>& command, const Environment& environment) {
  if (auto choice = python_of_command(command, environment)) return std::move(*choice);
  std::vector<PythonChoice> candidates = pythons_on_path(environment);
  if (candidates.empty()) return fail(no_python());
  return std::move(candidates.front());
}

Result<PythonProbe> probe_python(const PythonChoice& python, const Environment& environment) {
  std::vector<std::string> argv = python.argv;
  argv.insert(argv.end(), {"-c", kProbeProgram});
  OPWRIGHT_TRY_ASSIGN(const Captured answer,
                      capture(argv, {.seconds = kProbeSeconds, .environment = probe_environment(environment)}));
  PythonProbe probe{.why = python.why};
  std::string_view text = answer.out;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    constexpr std::string_view kMark = "opwright-probe ";
    const std::size_t equals = line.find('=');
    if (!line.starts_with(kMark) || equals == std::string_view::npos) continue;
    const std::string_view key = line.substr(kMark.size(), equals - kMark.size());
    const std::string value(line.substr(equals + 1));
    if (key == "version") probe.version = value;
    if (key == "executable") probe.executable = value;
    if (key == "ttnn_version") probe.ttnn_version = value;
    if (key == "ttnn_folder" || key == "ttnn_bare") probe.ttnn_folder = value;
    if (key == "ttnn_bare") probe.ttnn_is_package = false;
    if (key == "torch_version") probe.torch_version = value;
    if (key == "tracy_folder") probe.tracy_folder = value;
  }
  if (probe.executable.empty()) probe.executable = python.argv.front();
  if (answer.status != 0 || probe.version.empty()) {
    std::string_view last = trimmed(answer.err);
    last.remove_prefix(last.find_last_of('\n') + 1);
    return fail(ErrorCode::kBadInput, fmt::format("{}: it does not answer as a Python (exit status {}{}{}); try: {} -V",
                                                  fmt::join(python.argv, " "), answer.status, last.empty() ? "" : ": ",
                                                  last, fmt::join(python.argv, " ")));
  }
  return probe;
}

Status check_ttnn(const PythonProbe& probe) {
  const bool has_wheels = probe.version.starts_with("3.10.") || probe.version.starts_with("3.12.");
  if (probe.ttnn_folder.empty()) {
    return fail(ErrorCode::kNotFound,
                has_wheels
                    ? fmt::format("there is no ttnn in {} (Python {}, {}); install it: {} -m pip install ttnn",
                                  probe.executable, probe.version, probe.why, probe.executable)
                    : fmt::format("there is no ttnn in {} (Python {}, {}), and ttnn has no wheels for this version of "
                                  "Python, only for 3.10 and 3.12; make an environment with one of these: "
                                  "python3.10 -m venv env && env/bin/pip install ttnn",
                                  probe.executable, probe.version, probe.why));
  }
  if (!probe.ttnn_is_package) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{} (Python {}) finds only a bare folder named ttnn, {}, and no installed library; run the "
                            "command from another folder, or install it: {} -m pip install ttnn",
                            probe.executable, probe.version, probe.ttnn_folder, probe.executable));
  }
  if (ttnn_is_before(probe, kFirstMinor)) {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("ttnn {} in {} does not work on a mock device, 0.{} is the first that does; install a newer "
                    "one: {} -m pip install --upgrade ttnn",
                    probe.ttnn_version, probe.executable, kFirstMinor, probe.executable));
  }
  return {};
}

bool ttnn_is_before(const PythonProbe& probe, int minor) {
  int parts[2] = {0, 0};
  if (std::sscanf(probe.ttnn_version.c_str(), "%d.%d", &parts[0], &parts[1]) != 2) return false;
  return parts[0] == 0 && parts[1] > 0 && parts[1] < minor;
}

Result<PythonProbe> find_ttnn(const std::vector<std::string>& command, const Environment& environment) {
  std::vector<PythonChoice> candidates;
  if (auto told = python_of_command(command, environment))
    candidates.push_back(std::move(*told));
  else
    candidates = pythons_on_path(environment);
  if (candidates.empty()) return fail(no_python());
  std::optional<Error> first_error;
  for (const PythonChoice& candidate : candidates) {
    Result<PythonProbe> probe = probe_python(candidate, environment);
    const Status usable = probe ? check_ttnn(*probe) : Status(fail(probe.error()));
    if (usable) return probe;
    if (!first_error) first_error = usable.error();
  }
  return fail(std::move(*first_error));
}

}  // namespace opwright::launch
