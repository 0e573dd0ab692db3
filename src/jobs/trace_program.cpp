#include "jobs/trace_program.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <random>

#include "base/input.h"
#include "base/limits.h"
#include "base/secrets.h"
#include "base/subprocess.h"

namespace opwright::jobs {
namespace {

namespace fs = std::filesystem;

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

// Into the store, unless the program failed without naming tests: then nobody knows which calls were good.
Status import_one(const TraceRequest& request, TracedOutcome& outcome) {
  const bool include_failed = request.import.read.include_failed;
  const TraceSummary& summary = outcome.summary;
  outcome.apart = !include_failed && summary.calls > 0 &&
                  (!summary.failed_tests.empty() || (summary.tests.empty() && outcome.ended.status != 0));
  const bool nothing_named = summary.tests.empty() && outcome.ended.status != 0;
  if (summary.files.empty() || (nothing_named && !include_failed)) return {};
  IngestOptions options = request.import;
  options.durability = store::Durability::kEveryCommit;  // the trace files may be removed afterwards
  OPWRIGHT_TRY_ASSIGN(outcome.imported, ingest({outcome.folder}, options));
  return {};
}

// What existing tools read.
Status write_others(std::size_t number, const TraceRequest& request, TracedOutcome& outcome) {
  SideFiles wanted = request.side_files;
  if (!wanted.per_op.empty() && number > 0) wanted.per_op += fmt::format("/{}", number);
  if (outcome.summary.files.empty() || (wanted.per_op.empty() && wanted.jsonl.empty())) return {};
  OPWRIGHT_TRY_ASSIGN(outcome.side_files, write_side_files(outcome.summary.files, wanted));
  return {};
}

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

}  // namespace

Result<std::vector<TracedItem>> traced_items(const std::vector<std::string>& program,
                                             const std::vector<std::string>& tests, const std::string& list) {
  std::vector<TracedItem> items;
  if (!program.empty()) items.push_back({program, fmt::format("{}", fmt::join(masked_words(program), " "))});
  for (const std::string& test : tests) {
    if (test.find("::") == std::string::npos && !fs::exists(test)) {
      return fail(ErrorCode::kUsage, fmt::format("{}: no such file; a program goes behind --: opwright trace -- {}",
                                                 test, fmt::join(tests, " ")));
    }
    items.push_back({test_command(test), test});
  }
  if (!list.empty()) {
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

Result<TracedOutcome> run_traced(const TracedItem& item, std::size_t number, const TraceRequest& request,
                                 const ProgramWatcher& watcher) {
  launch::Environment environment(process_environment());
  OPWRIGHT_TRY_ASSIGN(const std::string path, launch::find_command(item.command, environment));
  std::optional<launch::MockSetup> mock;
  TracedOutcome outcome;
  if (!request.mock.empty()) {
    OPWRIGHT_TRY_ASSIGN(const launch::Board board, launch::find_board(request.mock));
    OPWRIGHT_TRY_ASSIGN(const launch::PythonProbe python, launch::find_ttnn(item.command, environment));
    OPWRIGHT_TRY_ASSIGN(mock, launch::MockSetup::make(board, python, environment,
                                                      {.export_root = launch::is_isolated_python(item.command),
                                                       .stub_device_trace = request.stub_device_trace}));
    environment = mock->environment();
  }
  launch::TraceOptions options = request.record;
  // When all else is in place: a failure leaves none.
  OPWRIGHT_TRY_ASSIGN(options.folder, make_folder(request.folder, number));
  options.uid = new_uid();
  outcome.folder = options.folder;
  OPWRIGHT_TRY(launch::add_tracing(environment, options));
  if (watcher.starts) watcher.starts();
  const auto ended = launch::run_program(path, item.command, environment);
  if (watcher.ended) watcher.ended();
  if (!ended) return fail(ended.error());
  outcome.ended = *ended;
  if (mock) outcome.device_trace = mock->device_trace_calls();
  return outcome;
}

void finish_traced(std::size_t number, const TraceRequest& request, TracedOutcome& outcome) {
  attempt(outcome, "the trace was not read", [&]() -> Status {
    outcome.summary = summarize(outcome.folder);
    return {};
  });
  if (outcome.not_done.empty()) {
    attempt(outcome, "not imported", [&] { return import_one(request, outcome); });
    attempt(outcome, "not written", [&] { return write_others(number, request, outcome); });
  }
  const TraceSummary& summary = outcome.summary;
  const bool whole = outcome.not_done.empty() && summary.problems.empty() && !outcome.apart;
  const bool is_empty = summary.calls == 0 && summary.filtered == 0 && summary.lost == 0;
  outcome.kept = !summary.files.empty() && (request.keep || (!whole && !is_empty));
  if (outcome.kept) return;
  std::error_code ignored;
  fs::remove_all(outcome.folder, ignored);
  fs::remove(request.folder, ignored);  // only when it is empty
}

bool only_tests_failed(const TracedItem& item, const TracedOutcome& outcome) {
  return outcome.ended.status == 1 && (!outcome.summary.failed_tests.empty() || is_pytest(item.command));
}

}  // namespace opwright::jobs
