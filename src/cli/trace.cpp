#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <ostream>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/trace_report.h"

namespace opwright::cli {
namespace {

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

Result<jobs::TraceRequest> request_of(const ParsedArgs& args, const CommandEnv& env) {
  jobs::TraceRequest request;
  OPWRIGHT_TRY_ASSIGN(request.record, options_of(args));
  request.folder = args.value("--output", request.folder);
  request.keep = args.is_set("--keep") || !args.value("--output").empty();
  request.mock = args.value("--mock");
  request.stub_device_trace = args.is_set("--stub-device-trace");
  if (request.stub_device_trace && request.mock.empty())
    return fail(ErrorCode::kUsage,
                "--stub-device-trace is for a mock board: add --mock BOARD; on hardware device traces "
                "work as they are");
  request.import.store = env.store;
  request.import.filter.all_ops = args.is_set("--all-ops");
  request.import.keep_calls = !args.is_set(kNoCallsFlag.name);
  request.import.read.include_failed = args.is_set("--include-failed");
  OPWRIGHT_TRY_ASSIGN(request.import.wait_ms, wait_ms(args));
  request.side_files = {args.value("--per-op"), args.value("--ops-jsonl")};
  if (const char* named = std::getenv("TT_OP_RESULTS_JSONL"); request.side_files.jsonl.empty() && named != nullptr)
    request.side_files.jsonl = named;
  return request;
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

// What follows the program, and the summary of it. Nothing here changes the exit status.
void finish(const jobs::TracedItem& item, std::size_t number, const jobs::TraceRequest& request,
            jobs::TracedOutcome& outcome, CommandEnv& env) {
  const QuietPipe pipe(env.out);
  env.status_is_programs = true;
  jobs::finish_traced(number, request, outcome);
  try {
    report_traced(item, outcome, env);
  } catch (const std::exception& error) {
    env.err << fmt::format("opwright: the summary was not printed: {}\n", error.what());
  }
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const std::vector<jobs::TracedItem> items,
                      jobs::traced_items(args.program, args.positionals, args.value("--list")));
  OPWRIGHT_TRY_ASSIGN(const jobs::TraceRequest request, request_of(args, env));
  std::optional<OutputAside> aside;
  const jobs::ProgramWatcher watcher{.starts =
                                         [&] {
                                           env.out.flush();
                                           aside.emplace(env.format != OutputFormat::kTable);
                                         },
                                     .ended = [&] { aside.reset(); }};
  int status = kExitOk;
  std::size_t failed = 0, not_whole = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::size_t number = items.size() > 1 ? i + 1 : 0;
    Result<jobs::TracedOutcome> outcome = jobs::run_traced(items[i], number, request, watcher);
    if (!outcome) {
      if (items.size() == 1) return fail(outcome.error());
      env.err << fmt::format("opwright: {}: {}\n", items[i].shown, outcome.error().message);
      if (status == kExitOk) status = kExitFailed;
      ++failed;
      continue;
    }
    finish(items[i], number, request, *outcome, env);
    if (!outcome->not_done.empty()) ++not_whole;
    const bool is_allowed = args.is_set("--allow-failures") && jobs::only_tests_failed(items[i], *outcome);
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
