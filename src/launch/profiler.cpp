#include "launch/profiler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/subprocess.h"
#include "launch/program.h"

namespace opwright::launch {
namespace {

namespace fs = std::filesystem;

// One word for /bin/sh, whatever is in it (shell_word() of base is for people, and for bash).
std::string sh_word(std::string_view word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\"'\"'") : std::string(1, c);
  return text + "'";
}

std::string_view base_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

Error cannot_start(const std::vector<std::string>& command, std::string_view why) {
  return {ErrorCode::kUsage, fmt::format("{}: {}", fmt::join(command, " "), why)};
}

// `python -m NAME …` or `python FILE …` -> what the profiler is told instead.
Result<std::vector<std::string>> words_of_python(const std::vector<std::string>& command) {
  if (command.size() < 2) return fail(cannot_start(command, "a Python without a program cannot be profiled"));
  if (command[1] == "-m") {
    if (command.size() < 3) return fail(cannot_start(command, "-m needs the name of a module"));
    return std::vector<std::string>(command.begin() + 1, command.end());
  }
  if (command[1].starts_with('-'))
    return fail(cannot_start(
        command, fmt::format("the profiler starts files and modules, and cannot pass {} on; use python FILE "
                             "or python -m NAME, and variables (PYTHONUNBUFFERED=1) for options",
                             command[1])));
  return std::vector<std::string>(command.begin() + 1, command.end());
}

}  // namespace

Result<PythonProbe> find_profiler(const std::vector<std::string>& command, const Environment& environment) {
  OPWRIGHT_TRY_ASSIGN(const PythonChoice choice, choose_python(command, environment));
  if (choice.argv.size() > 1)
    return fail(cannot_start(command,
                             "name the Python or pytest of that environment itself, the profiler cannot start a "
                             "tool that chooses one"));
  OPWRIGHT_TRY_ASSIGN(PythonProbe probe, probe_python(choice, environment));
  if (probe.tracy_folder.empty())
    return fail(
        ErrorCode::kNotFound,
        fmt::format("there is no profiler in {} (Python {}, {}): it has no module 'tracy'{}. The profiler comes "
                    "with a build of the library from source; put it on the path of Python: "
                    "PYTHONPATH=$TT_METAL_HOME/tools. Without hardware, 'opwright run --profile-csv' writes "
                    "modelled times",
                    probe.executable, probe.version, probe.why, probe.ttnn_folder.empty() ? ", nor 'ttnn'" : ""));
  return probe;
}

Result<std::vector<std::string>> profiled_command(const std::vector<std::string>& command, const PythonProbe& python,
                                                  const ProfilerRun& run, const Environment& environment) {
  // The profiler takes its folder once as a word and once from a shell.
  if (sh_word(run.folder) != run.folder)
    return fail(
        ErrorCode::kUsage,
        fmt::format("{}: the profiler takes no blanks and no signs of the shell in the path of its folder; choose "
                    "another with --output",
                    run.folder));
  std::vector<std::string> words{python.executable,
                                 "-m",
                                 "tracy",
                                 "-p",
                                 "-r",
                                 "-o",
                                 run.folder,
                                 "-n",
                                 run.id,
                                 "--check-exit-code",
                                 "--op-support-count",
                                 std::to_string(run.op_support_count)};
  for (const std::string& option : run.options) words.push_back(sh_word(option));
  OPWRIGHT_TRY_ASSIGN(const std::string path, find_command(command, environment));
  const std::string_view name = base_name(command[0]);
  std::vector<std::string> program;
  int shells = 1;
  if (name == "pytest" || name == "py.test") {
    program = {"-m", "pytest"};
    program.insert(program.end(), command.begin() + 1, command.end());
  } else if (python.why == kCommandIsPython) {
    OPWRIGHT_TRY_ASSIGN(program, words_of_python(command));
  } else {
    program = command;
    program[0] = fs::absolute(path).string();
    if (sh_word(program[0]) != program[0])
      return fail(cannot_start(command, "the profiler takes no blanks in the path of a program"));
    // One that is no Python is started by a shell of its own, inside the first one.
    if (!python.why.starts_with(kFirstLine)) shells = 2;
  }
  for (std::string& word : program) {
    for (int shell = 0; shell < shells; ++shell) word = sh_word(word);
    words.push_back(std::move(word));
  }
  return words;
}

void add_profiling(Environment& environment, const PythonProbe& python, const ProfilerRun& run) {
  environment.set("TT_METAL_DEVICE_PROFILER", "1", "the chip writes down when its kernels run");
  environment.set("TTNN_OP_PROFILER", "1", "the library says which operation a kernel belongs to");
  environment.set("TT_METAL_PROFILER_TRACE_TRACKING", "1", "replays of a trace are told apart");
  environment.set("TT_METAL_PROFILER_DIR", run.folder, "where the profiler writes");
  // The profiler starts `python3` by name.
  const std::string folder = fs::path(python.executable).parent_path().string();
  const std::string path = environment.get("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  const auto found = find_program("python3", path);
  if (!found || fs::path(*found).parent_path() != folder)
    environment.set("PATH", folder + ":" + path, "the profiler starts 'python3', which has to be this one");
}

Result<std::string> find_report(const ProfilerRun& run) {
  constexpr std::string_view kBegin = "ops_perf_results";
  const fs::path reports = fs::path(run.folder) / "reports";
  std::vector<std::string> named, others;
  std::error_code error;
  for (fs::recursive_directory_iterator at(reports, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::error_code ignored;
    if (!name.starts_with(kBegin) || !name.ends_with(".csv") || !at->is_regular_file(ignored)) continue;
    (name.find(run.id) != std::string::npos ? named : others).push_back(at->path().string());
  }
  // An older profiler does not take the name; the folder is of this run alone all the same.
  std::vector<std::string>& reports_found = named.empty() ? others : named;
  if (reports_found.empty()) return std::string();
  if (reports_found.size() > 1) {
    std::sort(reports_found.begin(), reports_found.end());
    return fail(
        ErrorCode::kBadInput,
        fmt::format("{} reports of this run, and nothing says which is meant: {}; read one with 'opwright perf'",
                    reports_found.size(), fmt::join(reports_found, ", ")));
  }
  return reports_found.front();
}

}  // namespace opwright::launch
