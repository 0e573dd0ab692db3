#include "launch/mock.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <optional>

#include "base/broken.h"
#include "base/secrets.h"
#include "base/subprocess.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/trace_report.h"
#include "launch/program.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    Flag{"--board", "BOARD", "which board to be: a name of --list, or a cluster descriptor FILE.yaml"},
    Flag{"--list", "", "list the boards"},
    Flag{"--explain", "", "show every variable and file that would be used, and run nothing"},
    Flag{"--keep", "", "leave the files on disk at the end, and say where"},
    Flag{"--stub-device-trace", "", "begin_trace_capture and its companions do nothing, and are counted"},
    Flag{"--export-root", "", "for a CMD that does not run our Python package: set TT_METAL_RUNTIME_ROOT"},
    Flag{"--python", "PATH", "the Python that CMD uses, where opwright cannot know (default: seen from CMD)"},
};

constexpr char kDetails[] =
    "CMD runs as it is: its input, output and exit status are its own. Operations are checked, shapes inferred and "
    "memory\n"
    "allocated by the real library; numbers are not computed, so tensors read back as zeros. Nothing in the "
    "installation of\n"
    "ttnn changes, and the files that opwright makes are removed at the end.\n\n"
    "  opwright mock --board n150 -- python model.py\n"
    "  opwright mock --board t3k -- pytest tests/test_model.py -k decode\n"
    "  opwright mock --board p150 --explain -- python model.py\n\n"
    "It needs a Python with ttnn in it, as wheels from PyPI bring it: pip install ttnn (Python 3.10 or 3.12).\n"
    "docs/how-to/run-without-hardware.md says what works there and what does not.";

int list_boards(CommandEnv& env) {
  Table table{{{"board"}, {"arch"}, {"chips", true}, {"mesh"}, {"grid"}, {"dispatch"}, {"aliases"}, {"about"}}, {}};
  for (const launch::Board& board : launch::boards()) {
    table.rows.push_back({board.name, launch::to_text(board.arch), std::int64_t{board.chip_count()},
                          fmt::format("{}x{}", board.mesh.y, board.mesh.x),
                          fmt::format("{}x{}", board.grid.x, board.grid.y), board.slow_dispatch ? "slow" : "fast",
                          Cell(fmt::format("{}", fmt::join(board.aliases, ", ")), json_array(board.aliases, false)),
                          board.about});
  }
  print(table, env);
  return kExitOk;
}

std::string_view to_text(launch::Action action) {
  switch (action) {
    case launch::Action::kSet:
      return "set";
    case launch::Action::kKept:
      return "yours, kept";
    case launch::Action::kRemoved:
      return "removed";
  }
  broken("an action is one of those", std::to_string(static_cast<int>(action)));
}

int explain(const launch::Board& board, const launch::PythonProbe& python, const launch::MockSetup& setup,
            const std::vector<std::string>& command, CommandEnv& env) {
  std::vector<std::string> variables, files;
  std::string text =
      fmt::format("board    {}: {}\npython   {} (Python {}, {})\nttnn     {} in {}\ntorch    {}\n", board.name,
                  board.about, python.executable, python.version, python.why,
                  python.ttnn_version.empty() ? "no version" : python.ttnn_version, python.ttnn_folder,
                  python.torch_version.empty() ? "none; ttnn.from_torch and to_torch need it" : python.torch_version);
  if (!command.empty()) text += fmt::format("command  {}\n", fmt::join(masked_words(command), " "));
  text += "\nvariables\n";
  for (const launch::Change& change : setup.environment().changes()) {
    JsonObject variable;
    variable.add("name", change.name).add("action", to_text(change.action)).add("value", change.value);
    if (change.was) variable.add("was", *change.was);
    variables.push_back(variable.add("why", change.why).text());
    const std::string shown =
        change.action == launch::Action::kRemoved ? "unset " + change.name : change.name + "=" + change.value;
    text += fmt::format("  {}\n      {}{}{}\n", shown, change.why,
                        change.action == launch::Action::kKept ? "; yours, kept" : "",
                        change.was ? fmt::format("; yours was {}", *change.was) : "");
  }
  text += "\nfiles, removed at the end\n";
  for (const launch::MockFile& file : setup.files()) {
    files.push_back(JsonObject().add("path", file.path).add("what", file.what).text());
    text += fmt::format("  {}\n      {}\n", file.path, file.what);
  }
  JsonObject object;
  object.add("board", board.name).add("python", python.executable).add("python_version", python.version);
  object.add("python_why", python.why).add("ttnn_version", python.ttnn_version).add("ttnn", python.ttnn_folder);
  object.add("torch_version", python.torch_version).add_raw("command", json_array(masked_words(command), false));
  object.add_raw("variables", json_array(variables, true)).add_raw("files", json_array(files, true));
  print_object(object, {{"board", board.name}, {"python", python.executable}, {"ttnn_version", python.ttnn_version}},
               text, env);
  return kExitOk;
}

Status check_usage(const ParsedArgs& args) {
  if (!args.positionals.empty()) {
    return fail(ErrorCode::kUsage, fmt::format("put -- before the program: opwright mock --board {} -- {}{}",
                                               args.value("--board", "BOARD"), fmt::join(args.positionals, " "),
                                               args.program.empty() ? "" : " …"));
  }
  if (args.value("--board").empty())
    return fail(ErrorCode::kUsage, "mock needs --board BOARD; 'opwright mock --list' lists the boards");
  if (args.program.empty() && !args.is_set("--explain")) {
    return fail(ErrorCode::kUsage, fmt::format("mock needs a program to run: opwright mock --board {} -- python "
                                               "model.py; or --explain to see what it would do",
                                               args.value("--board")));
  }
  return {};
}

// The one that --python names, else that of the program.
Result<launch::PythonProbe> python_for(const ParsedArgs& args, const launch::Environment& environment) {
  const std::string named = args.value("--python");
  if (named.empty()) return launch::find_ttnn(args.program, environment);
  OPWRIGHT_TRY_ASSIGN(const std::string path, launch::find_command({named}, environment));
  OPWRIGHT_TRY_ASSIGN(launch::PythonProbe probe, launch::probe_python({{path}, "--python"}, environment));
  OPWRIGHT_TRY(launch::check_ttnn(probe));
  return probe;
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  if (args.is_set("--list")) return list_boards(env);
  OPWRIGHT_TRY(check_usage(args));
  OPWRIGHT_TRY_ASSIGN(const launch::Board board, launch::find_board(args.value("--board")));
  const launch::Environment inherited(process_environment());
  std::string program;
  if (!args.program.empty()) {
    OPWRIGHT_TRY_ASSIGN(program, launch::find_command(args.program, inherited));
  }
  OPWRIGHT_TRY_ASSIGN(const launch::PythonProbe python, python_for(args, inherited));
  OPWRIGHT_TRY_ASSIGN(
      const launch::MockSetup setup,
      launch::MockSetup::make(board, python, inherited,
                              {.keep = args.is_set("--keep"),
                               .export_root = args.is_set("--export-root") || launch::is_isolated_python(args.program),
                               .stub_device_trace = args.is_set("--stub-device-trace")}));
  if (args.is_set("--explain")) return explain(board, python, setup, args.program, env);

  env.out.flush();
  OPWRIGHT_TRY_ASSIGN(const launch::Ended ended, launch::run_program(program, args.program, setup.environment()));
  if (ended.signal != 0)
    env.err << fmt::format("opwright: {} was ended by {}\n", args.program[0], launch::signal_text(ended.signal));
  if (ended.status != 0 && board.chip_count() > 1 && launch::ttnn_is_before(python, launch::kFabricMinor))
    env.err << fmt::format("opwright: ttnn {} cannot connect mock chips to a fabric, 0.{} is the first that can\n",
                           python.ttnn_version, launch::kFabricMinor);
  env.status_is_programs = true;
  const launch::DeviceTraceCalls traces = setup.device_trace_calls();
  if (traces.captured + traces.replayed > 0) env.err << fmt::format("opwright: {}\n", device_trace_text(traces));
  if (ended.status != 0 && traces.asked_for > 0) env.err << fmt::format("opwright: {}\n", kNoDeviceTraces);
  if (args.is_set("--keep")) env.err << fmt::format("opwright: files kept in {}\n", setup.folder());
  return ended.status;
}

}  // namespace

const Command kMock{
    "mock", "Run a program on the real ttnn library without hardware.", kDetails, "", 0, -1, kFlags, run, true};

}  // namespace opwright::cli
