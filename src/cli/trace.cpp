#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>

#include "base/subprocess.h"
#include "cli/command.h"
#include "cli/ingest.h"
#include "cli/output.h"
#include "cli/trace_summary.h"
#include "launch/mock.h"
#include "launch/program.h"
#include "launch/tracing.h"

namespace opwright::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array kFlags{
    Flag{"--mock", "BOARD", "run on the real ttnn library without hardware (opwright mock --list)"},
    Flag{"--list", "FILE", "run every line of FILE as a command of its own; # begins a comment"},
    Flag{"--keep", "", "keep the trace files (default: removed once they are in the store)"},
    Flag{"--output", "FOLDER", "where the trace files go (default: opwright-traces/); implies --keep"},
    Flag{"--include-failed", "", "also import calls of tests that failed, and of programs that failed"},
    Flag{"--all-ops", "", "import every operation, also excluded ones and names no list knows"},
    Flag{"--only", "OP", "record only these operations: names or globs (may be repeated)", true},
    Flag{"--phase", "NAME", "record only these phases (may be repeated)", true},
    Flag{"--first", "N", "record only the first N calls of a process, count the others"},
    Flag{"--values", "KIND", "of tensors too: sketch (range, quantiles), hash, or full contents (default off)"},
    Flag{"--max-overhead", "PERCENT", "record less where recording takes more than this share of the run"},
    Flag{"--device-ops", "", "also what runs on the device below each call: operations, buffers (slow)"},
    Flag{"--per-test", "", "one trace file a test instead of one a process"},
    kWaitFlag,
};

constexpr char kDetails[] =
    "CMD runs as it is, and every ttnn operation it calls is recorded: arguments, shapes, memory, results, errors.\n"
    "When it has ended, the configurations go into the store. Its exit status is the exit status of trace.\n\n"
    "  opwright trace -- pytest tests/test_model.py\n"
    "  opwright trace --mock n150 -- python model.py\n"
    "  opwright trace tests/test_a.py tests/test_b.py::test_x     (a batch: each by itself)\n\n"
    "A TEST without -- is run with pytest (test files and node ids) or python (other .py files). Calls of tests that\n"
    "did not pass stay out of the store, and their trace is kept. docs/how-to/trace-a-model.md tells more.";

struct Item {
  std::vector<std::string> command;
  std::string shown;
};

// What became of one command.
struct Outcome {
  launch::Ended ended;
  std::string folder;
  TraceSummary summary;
  std::optional<ImportReport> imported;
  bool apart = false;  // calls that were not imported because their test or program failed
  bool kept = false;
};

std::vector<std::string> words_of(const std::string& line) { return {"/bin/sh", "-c", line}; }

std::vector<std::string> test_command(const std::string& test) {
  const std::string name = fs::path(test.substr(0, test.find("::"))).filename().string();
  const bool is_test = test.find("::") != std::string::npos || fs::is_directory(test) || name.starts_with("test_") ||
                       name.ends_with("_test.py");
  if (is_test) return {"python3", "-m", "pytest", test};
  return {"python3", test};
}

Result<std::vector<Item>> items_of(const ParsedArgs& args) {
  std::vector<Item> items;
  if (!args.program.empty()) items.push_back({args.program, fmt::format("{}", fmt::join(args.program, " "))});
  for (const std::string& test : args.positionals) {
    if (test.find("::") == std::string::npos && !fs::exists(test)) {
      return fail(ErrorCode::kUsage, fmt::format("{}: no such file; a program goes behind --: opwright trace -- {}",
                                                 test, fmt::join(args.positionals, " ")));
    }
    items.push_back({test_command(test), test});
  }
  if (const std::string list = args.value("--list"); !list.empty()) {
    std::ifstream file(list);
    if (!file) return fail(ErrorCode::kBadInput, fmt::format("{}: cannot be read; --list needs a file", list));
    for (std::string line; std::getline(file, line);) {
      const std::size_t begin = line.find_first_not_of(" \t");
      if (begin == std::string::npos || line[begin] == '#') continue;
      items.push_back({words_of(line.substr(begin)), line.substr(begin)});
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

Result<Outcome> run_one(const Item& item, launch::TraceOptions options, const std::string& base, std::size_t number,
                        const ParsedArgs& args, CommandEnv& env) {
  launch::Environment environment(process_environment());
  OPWRIGHT_TRY_ASSIGN(const std::string path, launch::find_command(item.command, environment));
  OPWRIGHT_TRY_ASSIGN(options.folder, make_folder(base, number));
  options.uid = new_uid();
  Outcome outcome;
  outcome.folder = options.folder;
  std::optional<launch::MockSetup> mock;
  if (const std::string board_name = args.value("--mock"); !board_name.empty()) {
    OPWRIGHT_TRY_ASSIGN(const launch::Board board, launch::find_board(board_name));
    OPWRIGHT_TRY_ASSIGN(const launch::PythonProbe python, launch::find_ttnn(item.command, environment));
    OPWRIGHT_TRY_ASSIGN(mock, launch::MockSetup::make(board, python, environment));
    environment = mock->environment();
  }
  OPWRIGHT_TRY(launch::add_tracing(environment, options));
  {
    env.out.flush();
    const OutputAside aside(env.format != OutputFormat::kTable);
    OPWRIGHT_TRY_ASSIGN(outcome.ended, launch::run_program(path, item.command, environment));
  }
  outcome.summary = summarize(outcome.folder);
  return outcome;
}

// Into the store, unless the program failed without naming tests: then nobody knows which calls were good.
Status import_one(Outcome& outcome, const ParsedArgs& args, CommandEnv& env) {
  const bool include_failed = args.is_set("--include-failed");
  const TraceSummary& summary = outcome.summary;
  outcome.apart =
      !include_failed && (!summary.failed_tests.empty() || (summary.tests.empty() && outcome.ended.status != 0));
  const bool nothing_named = summary.tests.empty() && outcome.ended.status != 0;
  if (summary.files.empty() || (nothing_named && !include_failed)) return {};
  IngestOptions options;
  options.store = env.store;
  options.filter.all_ops = args.is_set("--all-ops");
  options.read.include_failed = include_failed;
  OPWRIGHT_TRY_ASSIGN(options.wait_ms, wait_ms(args));
  OPWRIGHT_TRY_ASSIGN(outcome.imported, ingest({outcome.folder}, options));
  return {};
}

std::string top_operations(const std::map<std::string, std::int64_t>& calls, std::size_t most) {
  std::vector<std::pair<std::int64_t, std::string>> sorted;
  for (const auto& [name, count] : calls) sorted.emplace_back(-count, name);
  std::sort(sorted.begin(), sorted.end());
  std::string text;
  for (std::size_t i = 0; i < sorted.size() && i < most; ++i)
    text += fmt::format("  {:<60} {:>10}\n", sorted[i].second, grouped(-sorted[i].first));
  if (sorted.size() > most) text += fmt::format("  and {} more operations\n", sorted.size() - most);
  return text;
}

std::string tests_text(const std::map<std::string, std::int64_t>& tests) {
  std::string text;
  for (const auto& [outcome, count] : tests) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, outcome);
  return text;
}

// What the user reads when the program has ended.
std::string human(const Item& item, const Outcome& outcome, CommandEnv& env) {
  const TraceSummary& summary = outcome.summary;
  std::string text = fmt::format("\ntraced: {}\n", item.shown);
  if (outcome.ended.signal != 0)
    text += fmt::format("program: ended by {}\n", launch::signal_text(outcome.ended.signal));
  else if (outcome.ended.status != 0)
    text += fmt::format("program: exit status {}\n", outcome.ended.status);
  if (!summary.tests.empty()) text += fmt::format("tests: {}\n", tests_text(summary.tests));
  if (summary.calls == 0 && summary.filtered == 0) {
    text += "calls: none recorded. Did the program import ttnn? Python started with -I, -E or -S cannot be traced.\n";
  } else {
    text += fmt::format("calls: {}{} of {}\n", grouped(summary.calls),
                        summary.errors > 0 ? fmt::format(" ({} raised)", grouped(summary.errors)) : "",
                        plural(static_cast<std::int64_t>(summary.calls_by_op.size()), "operation"));
    text += top_operations(summary.calls_by_op, 12);
  }
  for (const std::string& op : summary.unfinished_calls)
    text += fmt::format("UNFINISHED: the process ended during a call of {}\n", op);
  if (summary.filtered > 0) text += fmt::format("not recorded, as asked: {}\n", plural(summary.filtered, "call"));
  if (summary.thinned > 0)
    text += fmt::format("recorded with less detail or only counted (--max-overhead): {}\n",
                        plural(summary.thinned, "call"));
  if (summary.lost > 0) text += fmt::format("LOST {}\n", plural(summary.lost, "call"));
  if (summary.opaque > 0)
    text += fmt::format("opaque: {} could not be read and {} kept as text\n", plural(summary.opaque, "value"),
                        summary.opaque == 1 ? "is" : "are");
  for (const auto& [note, count] : summary.notes)
    text += fmt::format("note: {}{}\n", note, count > 1 ? fmt::format(" ({} times)", count) : "");
  for (const std::string& problem : summary.problems) text += fmt::format("LOST {}\n", problem);
  if (outcome.imported) {
    const ImportReport& report = *outcome.imported;
    text += fmt::format("store: {}: {} new, {} known, of {} in {}\n", plural(report.configurations, "configuration"),
                        grouped(report.added), grouped(report.known), plural(report.calls, "call"), env.store);
    std::int64_t filtered = 0;
    for (const auto& [name, count] : report.filtered) filtered += count;
    if (filtered > 0)
      text += fmt::format("  {} of operations that are no test subject stay out (--all-ops keeps them)\n",
                          plural(filtered, "call"));
    for (const auto& [kind, lost] : report.losses)
      text += fmt::format("LOST {} x {}: {}\n", grouped(lost.count), kind, lost.example);
  }
  if (summary.calls > 0) {
    text += fmt::format("cost: {:.1f} us a call, {:.1f} % of {:.1f} s; {} a call\n", summary.ns_per_call() / 1e3,
                        summary.run_seconds > 0 ? 100 * summary.recorder_seconds / summary.run_seconds : 0,
                        summary.run_seconds, size_text(summary.bytes / std::max<std::int64_t>(1, summary.calls)));
  }
  if (outcome.apart) {
    text += fmt::format(
        "kept apart: calls of {} are not in the store; take them with\n  opwright import --include-failed {}\n",
        summary.failed_tests.empty() ? "the failed program"
                                     : plural(static_cast<std::int64_t>(summary.failed_tests.size()), "failed test"),
        outcome.folder);
  }
  text += outcome.kept ? fmt::format("trace: kept in {} ({})\n", outcome.folder, size_text(summary.bytes))
                       : "trace: removed (--keep keeps it)\n";
  return text;
}

std::string counts_json(const std::map<std::string, std::int64_t>& counts) {
  JsonObject object;
  for (const auto& [name, count] : counts) object.add(name, count);
  return object.text();
}

JsonObject json_of(const Item& item, const Outcome& outcome) {
  const TraceSummary& summary = outcome.summary;
  JsonObject object;
  object.add("exit", std::int64_t{outcome.ended.status})
      .add("signal", std::int64_t{outcome.ended.signal})
      .add_raw("tests", counts_json(summary.tests))
      .add("calls", summary.calls)
      .add("errors", summary.errors)
      .add("operations", static_cast<std::int64_t>(summary.calls_by_op.size()))
      .add("configurations", outcome.imported ? outcome.imported->configurations : 0)
      .add("added", outcome.imported ? outcome.imported->added : 0)
      .add_number("ns_per_call", summary.ns_per_call())
      .add("trace", outcome.kept ? outcome.folder : "")
      .add("command", item.shown)
      .add_raw("calls_by_operation", counts_json(summary.calls_by_op))
      .add("filtered", summary.filtered)
      .add("thinned", summary.thinned)
      .add("lost", summary.lost)
      .add("opaque", summary.opaque)
      .add("unfinished", summary.unfinished)
      .add_bool("kept_apart", outcome.apart)
      .add_raw("failed_tests", json_array(summary.failed_tests, false))
      .add_raw("problems", json_array(summary.problems, false))
      .add_raw("notes", counts_json(summary.notes))
      .add("bytes", summary.bytes)
      .add_number("run_seconds", summary.run_seconds)
      .add_number("recorder_seconds", summary.recorder_seconds);
  return object;
}

void report(const Item& item, const Outcome& outcome, CommandEnv& env) {
  const TraceSummary& summary = outcome.summary;
  print_object(json_of(item, outcome),
               {{"exit", std::to_string(outcome.ended.status)},
                {"calls", std::to_string(summary.calls)},
                {"errors", std::to_string(summary.errors)},
                {"operations", std::to_string(summary.calls_by_op.size())},
                {"configurations", std::to_string(outcome.imported ? outcome.imported->configurations : 0)},
                {"added", std::to_string(outcome.imported ? outcome.imported->added : 0)},
                {"ns_per_call", fmt::format("{:.0f}", summary.ns_per_call())},
                {"trace", outcome.kept ? outcome.folder : ""}},
               human(item, outcome, env), env);
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const std::vector<Item> items, items_of(args));
  OPWRIGHT_TRY_ASSIGN(const launch::TraceOptions options, options_of(args));
  const std::string base = args.value("--output", "opwright-traces");
  const bool keep = args.is_set("--keep") || !args.value("--output").empty();
  int status = kExitOk;
  std::size_t failed = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    Result<Outcome> outcome = run_one(items[i], options, base, items.size() > 1 ? i + 1 : 0, args, env);
    if (!outcome) {
      if (items.size() == 1) return fail(outcome.error());
      env.err << fmt::format("opwright: {}: {}\n", items[i].shown, outcome.error().message);
      status = kExitFailed;
      ++failed;
      continue;
    }
    const Status imported = import_one(*outcome, args, env);
    const bool whole = imported && outcome->summary.problems.empty() && !outcome->apart;
    outcome->kept = !outcome->summary.files.empty() && (keep || !whole);
    if (!outcome->kept) {
      std::error_code ignored;
      fs::remove_all(outcome->folder, ignored);
      fs::remove(base, ignored);  // only when it is empty
    }
    report(items[i], *outcome, env);
    if (!imported) {
      env.err << fmt::format("opwright: the trace is in {}, but could not be imported: {}\n", outcome->folder,
                             imported.error().message);
    }
    const int this_one = outcome->ended.status != 0 ? outcome->ended.status : imported ? kExitOk : kExitFailed;
    if (this_one != kExitOk) ++failed;
    if (status == kExitOk) status = this_one;
  }
  if (items.size() > 1 && env.format == OutputFormat::kTable)
    env.out << fmt::format("\n{}, {} failed\n", plural(static_cast<std::int64_t>(items.size()), "command"), failed);
  return status;
}

}  // namespace

const Command kTrace{
    "trace", "Run a test or a program and record every operator call it makes.", kDetails, "TEST…", 0, -1, kFlags, run,
    true};

}  // namespace opwright::cli
