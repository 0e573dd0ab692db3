#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <optional>
#include <ostream>
#include <random>

#include "base/input.h"
#include "base/limits.h"
#include "base/secrets.h"
#include "base/subprocess.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/trace_outcome.h"
#include "jobs/ingest.h"
#include "jobs/trace_side_files.h"
#include "launch/mock.h"
#include "launch/program.h"
#include "launch/tracing.h"

namespace opwright::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array kFlags{
    Flag{"--mock", "BOARD", "run on the real ttnn library without hardware (opwright mock --list)"},
    Flag{"--stub-device-trace", "", "with --mock: begin_trace_capture and its companions do nothing, and are counted"},
    Flag{"--list", "FILE", "run every line of FILE as a command of its own; # begins a comment"},
    Flag{"--keep", "", "keep the trace files (default: removed once they are in the store)"},
    Flag{"--output", "FOLDER", "where the trace files go (default: opwright-traces/); implies --keep"},
    Flag{"--include-failed", "", "also import calls of tests that failed, and of programs that failed"},
    Flag{"--allow-failures", "", "exit status 0 where the program ended with 1 because tests failed"},
    Flag{"--all-ops", "", "import every operation, also excluded ones and names no list knows"},
    kNoCallsFlag,
    Flag{"--only", "OP", "record only these operations: names or globs (may be repeated)", true},
    Flag{"--phase", "NAME", "record only these phases (may be repeated)", true},
    Flag{"--first", "N", "record only the first N calls of a process, count the others"},
    Flag{"--values", "KIND", "of tensors too: sketch (range, quantiles), hash, or full contents (default off)"},
    Flag{"--max-overhead", "PERCENT", "record less where recording takes more than this share of the run"},
    Flag{"--device-ops", "", "also what runs on the device below each call: operations, buffers (slow)"},
    Flag{"--per-test", "", "one trace file a test instead of one a process"},
    Flag{"--per-op", "FOLDER", "also write per-op files as the library's own tracer does; a new folder"},
    Flag{"--ops-jsonl", "FILE", "also append op JSONL (default $TT_OP_RESULTS_JSONL)"},
    kWaitFlag,
};

constexpr char kDetails[] =
    "CMD runs as it is, and every ttnn operation it calls is recorded: arguments, shapes, memory, results, errors.\n"
    "When it has ended, the configurations go into the store. Its exit status is the exit status of trace, whatever\n"
    "became of the trace: what was lost or not imported is told on standard error and in --format json.\n\n"
    "  opwright trace -- pytest tests/test_model.py\n"
    "  opwright trace --mock n150 -- python model.py\n"
    "  opwright trace tests/test_a.py tests/test_b.py::test_x     (a batch: each by itself)\n\n"
    "A TEST without -- is run with pytest (test files and node ids) or python (other .py files). Calls of tests that\n"
    "did not pass stay out of the store, and their trace is kept. docs/how-to/trace-a-model.md tells more.";

std::vector<std::string> words_of(const std::string& line) { return {"/bin/sh", "-c", line}; }

std::vector<std::string> test_command(const std::string& test) {
  const std::string name = fs::path(test.substr(0, test.find("::"))).filename().string();
  const bool is_test = test.find("::") != std::string::npos || fs::is_directory(test) || name.starts_with("test_") ||
                       name.ends_with("_test.py");
  if (is_test) return {"python3", "-m", "pytest", test};
  return {"python3", test};
}

bool is_pytest(const std::vector<std::string>& command) {
  const std::string name = fs::path(command[0]).filename().string();
  if (name == "pytest" || name == "py.test") return true;
  const auto option = std::find(command.begin(), command.end(), "-m");
  return option != command.end() && option + 1 != command.end() && option[1] == "pytest";
}

// 1 is also how a Python ends that nobody caught an exception of: it must be known that tests were run.
bool only_tests_failed(const TracedItem& item, const TracedOutcome& outcome) {
  return outcome.ended.status == 1 && (!outcome.summary.failed_tests.empty() || is_pytest(item.command));
}

Result<std::vector<TracedItem>> items_of(const ParsedArgs& args) {
  std::vector<TracedItem> items;
  if (!args.program.empty())
    items.push_back({args.program, fmt::format("{}", fmt::join(masked_words(args.program), " "))});
  for (const std::string& test : args.positionals) {
    if (test.find("::") == std::string::npos && !fs::exists(test)) {
      return fail(ErrorCode::kUsage, fmt::format("{}: no such file; a program goes behind --: opwright trace -- {}",
                                                 test, fmt::join(args.positionals, " ")));
    }
    items.push_back({test_command(test), test});
  }
  if (const std::string list = args.value("--list"); !list.empty()) {
    OPWRIGHT_TRY_ASSIGN(Input file, Input::open(list));
    while (true) {
      OPWRIGHT_TRY_ASSIGN(const std::optional<std::string_view> line, file.next_line());
      if (!line) break;
      const std::size_t begin = line->find_first_not_of(" \t\r");
      if (begin == std::string_view::npos || (*line)[begin] == '#') continue;
      if (items.size() >= limits().files) {
        return fail(over_limit(list, &Limits::files, fmt::format("it has more than {} commands", items.size())));
      }
      const std::string command(line->substr(begin));
      items.push_back({words_of(command), masked(command)});
    }
    if (items.empty()) return fail(ErrorCode::kUsage, fmt::format("{}: no command in this list", list));
  }
  if (items.empty()) {
    return fail(
        ErrorCode::kUsage,
        "trace needs a program: opwright trace -- pytest test_model.py; or a test: opwright trace test_model.py");
  }
  return items;
}

Result<launch::TraceOptions> options_of(const ParsedArgs& args) {
  launch::TraceOptions options;
  options.only = fmt::format("{}", fmt::join(args.all("--only"), ","));
  options.phase = fmt::format("{}", fmt::join(args.all("--phase"), ","));
  OPWRIGHT_TRY_ASSIGN(const std::size_t first, count_of(args, "--first", 0));
  if (first > 0) options.first = std::to_string(first);
  options.values = args.value("--values");
  if (!options.values.empty() && options.values != "off" && options.values != "sketch" && options.values != "hash" &&
      options.values != "full") {
    return fail(ErrorCode::kUsage, fmt::format("--values {}: choose off, sketch, hash or full", options.values));
  }
  if (const std::string percent = args.value("--max-overhead"); !percent.empty()) {
    char* end = nullptr;
    const double share = std::strtod(percent.c_str(), &end);
    if (end == percent.c_str() || (*end != '\0' && *end != '%') || share <= 0) {
      return fail(ErrorCode::kUsage, fmt::format("--max-overhead {}: a percentage above 0, e.g. 5", percent));
    }
    options.max_overhead = fmt::format("{}", share / 100);
  }
  options.device_ops = args.is_set("--device-ops");
  options.per_test = args.is_set("--per-test");
  return options;
}

std::string new_uid() {
  std::random_device random;
  const auto word = [&random] { return random() & 0xffffU; };
  return fmt::format("{:04x}{:04x}-{:04x}-4{:03x}-{:04x}-{:04x}{:04x}{:04x}", word(), word(), word(), word() & 0xfff,
                     (word() & 0x3fff) | 0x8000, word(), word(), word());
}

// A folder of its own for one command: traces of two runs never mix.
Result<std::string> make_folder(const std::string& base, std::size_t number) {
  const auto now = fmt::localtime(std::time(nullptr));
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const std::string name = fmt::format("{:%Y%m%d-%H%M%S}{}{}", now, number > 0 ? fmt::format("-{}", number) : "",
                                         attempt > 0 ? fmt::format("-{}", attempt) : "");
    std::error_code error;
    fs::create_directories(base, error);
    if (!error && fs::create_directory(fs::path(base) / name, error))
      return fs::absolute(fs::path(base) / name).string();
    if (error) {
      return fail(ErrorCode::kBadInput,
                  fmt::format("{}: {}; choose another folder with --output", base, error.message()));
    }
  }
  return fail(ErrorCode::kBadInput, fmt::format("{}: too many traces of this second", base));
}

// In JSON, standard output is ours: what the program prints goes to standard error.
class OutputAside {
 public:
  explicit OutputAside(bool aside) {
    if (!aside) return;
    saved_ = ::dup(STDOUT_FILENO);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  ~OutputAside() {
    if (saved_ < 0) return;
    ::dup2(saved_, STDOUT_FILENO);
    ::close(saved_);
  }
  OutputAside(const OutputAside&) = delete;
  OutputAside& operator=(const OutputAside&) = delete;

 private:
  int saved_ = -1;
};

Result<TracedOutcome> run_one(const TracedItem& item, launch::TraceOptions options, const std::string& base,
                              std::size_t number, const ParsedArgs& args, CommandEnv& env) {
  launch::Environment environment(process_environment());
  OPWRIGHT_TRY_ASSIGN(const std::string path, launch::find_command(item.command, environment));
  std::optional<launch::MockSetup> mock;
  TracedOutcome outcome;
  if (const std::string board_name = args.value("--mock"); !board_name.empty()) {
    OPWRIGHT_TRY_ASSIGN(const launch::Board board, launch::find_board(board_name));
    OPWRIGHT_TRY_ASSIGN(const launch::PythonProbe python, launch::find_ttnn(item.command, environment));
    OPWRIGHT_TRY_ASSIGN(mock, launch::MockSetup::make(board, python, environment,
                                                      {.export_root = launch::is_isolated_python(item.command),
                                                       .stub_device_trace = args.is_set("--stub-device-trace")}));
    environment = mock->environment();
  }
  OPWRIGHT_TRY_ASSIGN(options.folder, make_folder(base, number));  // when all else is in place: a failure leaves none
  options.uid = new_uid();
  outcome.folder = options.folder;
  OPWRIGHT_TRY(launch::add_tracing(environment, options));
  {
    env.out.flush();
    const OutputAside aside(env.format != OutputFormat::kTable);
    OPWRIGHT_TRY_ASSIGN(outcome.ended, launch::run_program(path, item.command, environment));
  }
  if (mock) outcome.device_trace = mock->device_trace_calls();
  return outcome;
}

// Into the store, unless the program failed without naming tests: then nobody knows which calls were good.
Status import_one(TracedOutcome& outcome, const ParsedArgs& args, CommandEnv& env) {
  const bool include_failed = args.is_set("--include-failed");
  const jobs::TraceSummary& summary = outcome.summary;
  outcome.apart = !include_failed && summary.calls > 0 &&
                  (!summary.failed_tests.empty() || (summary.tests.empty() && outcome.ended.status != 0));
  const bool nothing_named = summary.tests.empty() && outcome.ended.status != 0;
  if (summary.files.empty() || (nothing_named && !include_failed)) return {};
  jobs::IngestOptions options;
  options.durability = store::Durability::kEveryCommit;  // the trace files may be removed afterwards
  options.store = env.store;
  options.filter.all_ops = args.is_set("--all-ops");
  options.keep_calls = !args.is_set(kNoCallsFlag.name);
  options.read.include_failed = include_failed;
  OPWRIGHT_TRY_ASSIGN(options.wait_ms, wait_ms(args));
  OPWRIGHT_TRY_ASSIGN(outcome.imported, jobs::ingest({outcome.folder}, options));
  return {};
}

// What existing tools read. In a batch each command has a folder of its own for per-op files.
Status write_others(TracedOutcome& outcome, std::size_t number, const ParsedArgs& args) {
  jobs::SideFiles wanted{args.value("--per-op"), args.value("--ops-jsonl")};
  if (const char* named = std::getenv("TT_OP_RESULTS_JSONL"); wanted.jsonl.empty() && named != nullptr)
    wanted.jsonl = named;
  if (!wanted.per_op.empty() && number > 0) wanted.per_op += fmt::format("/{}", number);
  if (outcome.summary.files.empty() || (wanted.per_op.empty() && wanted.jsonl.empty())) return {};
  OPWRIGHT_TRY_ASSIGN(outcome.side_files, jobs::write_side_files(outcome.summary.files, wanted));
  return {};
}

// A reader of our output that is gone must not end us: the program's exit status would be lost.
class QuietPipe {
 public:
  explicit QuietPipe(std::ostream& out) : out_(out), before_(std::signal(SIGPIPE, SIG_IGN)) {}
  ~QuietPipe() {
    out_.flush();
    std::signal(SIGPIPE, before_);  // the next program of a batch shall not inherit it
  }
  QuietPipe(const QuietPipe&) = delete;
  QuietPipe& operator=(const QuietPipe&) = delete;

 private:
  std::ostream& out_;
  void (*before_)(int);
};

// One step of what follows the program. What it meets is told; it changes nothing of how the program ended.
void attempt(TracedOutcome& outcome, std::string_view what, const std::function<Status()>& step) {
  std::string problem;
  try {
    const Status done = step();
    if (!done) problem = done.error().message;
  } catch (const std::exception& error) {
    problem = fmt::format("internal error: {}; please report it with the command line", error.what());
  }
  if (!problem.empty()) outcome.not_done.push_back(fmt::format("{}: {}", what, problem));
}

// Everything after the program has ended: counted, imported, written in other formats, removed, told.
void finish(const TracedItem& item, TracedOutcome& outcome, const std::string& base, std::size_t number,
            const ParsedArgs& args, CommandEnv& env) {
  const QuietPipe pipe(env.out);
  env.status_is_programs = true;
  const bool keep = args.is_set("--keep") || !args.value("--output").empty();
  attempt(outcome, "the trace was not read", [&]() -> Status {
    outcome.summary = jobs::summarize(outcome.folder);
    return {};
  });
  if (outcome.not_done.empty()) {
    attempt(outcome, "not imported", [&] { return import_one(outcome, args, env); });
    attempt(outcome, "not written", [&] { return write_others(outcome, number, args); });
  }
  const jobs::TraceSummary& summary = outcome.summary;
  const bool whole = outcome.not_done.empty() && summary.problems.empty() && !outcome.apart;
  const bool is_empty = summary.calls == 0 && summary.filtered == 0 && summary.lost == 0;
  outcome.kept = !summary.files.empty() && (keep || (!whole && !is_empty));
  if (!outcome.kept) {
    std::error_code ignored;
    fs::remove_all(outcome.folder, ignored);
    fs::remove(base, ignored);  // only when it is empty
  }
  try {
    report_traced(item, outcome, env);
  } catch (const std::exception& error) {
    env.err << fmt::format("opwright: the summary was not printed: {}\n", error.what());
  }
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const std::vector<TracedItem> items, items_of(args));
  OPWRIGHT_TRY_ASSIGN(const launch::TraceOptions options, options_of(args));
  if (args.is_set("--stub-device-trace") && args.value("--mock").empty())
    return fail(ErrorCode::kUsage,
                "--stub-device-trace is for a mock board: add --mock BOARD; on hardware device traces "
                "work as they are");
  OPWRIGHT_TRY(wait_ms(args));  // a wrong value is told before the program runs, not after
  const std::string base = args.value("--output", "opwright-traces");
  int status = kExitOk;
  std::size_t failed = 0, not_whole = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::size_t number = items.size() > 1 ? i + 1 : 0;
    Result<TracedOutcome> outcome = run_one(items[i], options, base, number, args, env);
    if (!outcome) {
      if (items.size() == 1) return fail(outcome.error());
      env.err << fmt::format("opwright: {}: {}\n", items[i].shown, outcome.error().message);
      if (status == kExitOk) status = kExitFailed;
      ++failed;
      continue;
    }
    finish(items[i], *outcome, base, number, args, env);
    if (!outcome->not_done.empty()) ++not_whole;
    const bool is_allowed = args.is_set("--allow-failures") && only_tests_failed(items[i], *outcome);
    const int this_one = is_allowed ? kExitOk : outcome->ended.status;
    if (this_one != kExitOk) ++failed;
    if (status == kExitOk) status = this_one;
  }
  if (items.size() > 1 && env.format == OutputFormat::kTable) {
    const QuietPipe pipe(env.out);
    env.out << fmt::format("\n{}, {} failed{}\n", plural(static_cast<std::int64_t>(items.size()), "command"), failed,
                           not_whole > 0 ? fmt::format(", {} not imported", not_whole) : "");
  }
  return status;
}

}  // namespace

const Command kTrace{"trace",  "Run a test or a program and record every operator call it makes.",
                     kDetails, "TEST…",
                     0,        -1,
                     kFlags,   run,
                     true,     true};

}  // namespace opwright::cli
