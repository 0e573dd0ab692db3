#include "jobs/perf_record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "base/visible_text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/perf_view.h"
#include "jobs/perf_report.h"
#include "perf/report_json.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    Flag{"--output", "FOLDER", "where runs are kept, each in a folder of its own (default opwright-profiles/)"},
    Flag{"--timeout", "SECONDS", "end a program that runs longer (default 900)"},
    Flag{"--silence", "SECONDS", "end a program that prints nothing for so long (default 300)"},
    Flag{"--late", "SECONDS", "wait so long for what the program leaves behind, which may still write (default 60)"},
    Flag{"--reset-cmd", "COMMAND", "run by the shell after a program had to be ended or crashed, e.g. 'tt-smi -r'"},
    Flag{"--op-support-count", "N", "operations that the profiler has room for (default 10000)"},
    Flag{"--profiler-option", "WORD", "one more word for the profiler (may be repeated)", true},
    Flag{"--window", "NAME", "of the report: this window (opwright help perf)"},
    Flag{"--iterations", "N", "of the report: that the window has N iterations"},
    Flag{"--board", "NAME", "of the report: the board"},
    Flag{"--explain", "", "in JSON: work, bytes and advice of each position, sums by operation, layout tax"},
    Flag{"--all", "", "every position, not only the first 60"},
};

constexpr char kDetails[] =
    "CMD runs under the library's profiler (the Python module tracy), its output is kept in a log, and the report is\n"
    "read as 'opwright perf' does. The report is found by the name of this run, never as the newest of a folder.\n"
    "A program that runs too long or goes silent is ended with everything that it started.\n\n"
    "  opwright perf record -- pytest tests/test_model.py::test_decode\n"
    "  opwright perf record --reset-cmd 'tt-smi -r' --window PERF_DECODE -- python model.py\n\n"
    "Exit status 1: CMD failed; 3: it had to be ended, or there is no report. docs/how-to/record-a-profile.md tells "
    "more.";

Result<double> seconds_of(const ParsedArgs& args, std::string_view flag, double otherwise) {
  const std::string text = args.value(flag);
  if (text.empty()) return otherwise;
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || !(seconds > 0) || seconds > 1e7)
    return fail(ErrorCode::kUsage, fmt::format("{} {}: a number of seconds above 0", flag, text));
  return seconds;
}

Result<jobs::RecordRequest> request_of(const ParsedArgs& args) {
  if (args.program.empty())
    return fail(ErrorCode::kUsage,
                fmt::format("perf record needs a program behind --: opwright perf record -- {}",
                            args.positionals.empty() ? "pytest test_model.py"
                                                     : fmt::format("{}", fmt::join(args.positionals, " "))));
  jobs::RecordRequest request{.command = args.program};
  request.folder = args.value("--output", request.folder);
  request.reset_command = args.value("--reset-cmd");
  request.profiler_options = args.all("--profiler-option");
  OPWRIGHT_TRY_ASSIGN(request.total_seconds, seconds_of(args, "--timeout", request.total_seconds));
  OPWRIGHT_TRY_ASSIGN(request.silent_seconds, seconds_of(args, "--silence", request.silent_seconds));
  OPWRIGHT_TRY_ASSIGN(request.late_seconds, seconds_of(args, "--late", request.late_seconds));
  OPWRIGHT_TRY_ASSIGN(const std::size_t operations, count_of(args, "--op-support-count", 10000));
  request.op_support_count = static_cast<std::int64_t>(operations);
  return request;
}

// The program's own output goes where it would have gone, byte by byte; in JSON standard output is ours.
class Passage {
 public:
  explicit Passage(CommandEnv& env)
      : to_(env.format == OutputFormat::kTable ? STDOUT_FILENO : STDERR_FILENO),
        before_(std::signal(SIGPIPE, SIG_IGN)) {
    env.out.flush();
  }
  Passage(const Passage&) = delete;
  Passage& operator=(const Passage&) = delete;
  ~Passage() { std::signal(SIGPIPE, before_); }
  void pass(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t count = ::write(to_, text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return;  // nobody reads it: the log has it
      text.remove_prefix(static_cast<std::size_t>(count));
    }
  }

 private:
  int to_;
  void (*before_)(int);
};

int exit_of(const jobs::Recorded& recorded) {
  switch (recorded.outcome) {
    case jobs::RecordOutcome::kReported:
      return kExitOk;
    case jobs::RecordOutcome::kProgramFailed:
      return kExitDifference;
    case jobs::RecordOutcome::kStopped:
      return recorded.end.stopped == launch::Stopped::kInterrupted ? 130 : kExitFailed;
    case jobs::RecordOutcome::kNoReport:
      return kExitFailed;
  }
  return kExitFailed;
}

JsonObject object_of(const jobs::Recorded& recorded) {
  JsonObject object;
  object.add("run", recorded.run).add("outcome", name_of(recorded.outcome));
  object.add_raw("why", recorded.why.empty() ? "null" : json_string(recorded.why));
  object.add("exit", std::int64_t{recorded.end.ended.status}).add_number("seconds", recorded.end.seconds);
  object.add("folder", recorded.folder).add("log", recorded.log);
  object.add_raw("report", recorded.report.empty() ? "null" : json_string(recorded.report));
  object.add_raw("reset", recorded.reset.empty() ? "null" : json_string(recorded.reset));
  object.add("left_behind", static_cast<std::int64_t>(recorded.end.waited_for));
  return object.add("ended_by_us", static_cast<std::int64_t>(recorded.end.killed));
}

void tell(const jobs::Recorded& recorded, CommandEnv& env) {
  std::ostream& out = recorded.outcome == jobs::RecordOutcome::kReported ? env.out : env.err;
  if (!recorded.why.empty()) out << fmt::format("opwright: {}\n", visible(recorded.why));
  out << fmt::format("run {}, {:.1f} s; log: {}\n", recorded.run, recorded.end.seconds, visible(recorded.log));
  if (recorded.end.waited_for > 0)
    out << fmt::format("it left {} behind, {} of them ended by us\n",
                       plural(static_cast<std::int64_t>(recorded.end.waited_for), "process", "processes"),
                       recorded.end.killed);
  if (!recorded.reset.empty()) out << fmt::format("reset command: {}\n", visible(recorded.reset));
  if (!recorded.report.empty()) out << fmt::format("report: {}\n", visible(recorded.report));
}

// The report as 'perf' tells it; its windows where there are several and none was named.
Status tell_report(const ParsedArgs& args, const jobs::Recorded& recorded, JsonObject object, CommandEnv& env) {
  jobs::PerfRequest request{
      .paths = {recorded.report}, .window = args.value("--window"), .board = args.value("--board")};
  OPWRIGHT_TRY_ASSIGN(const std::size_t iterations, count_of(args, "--iterations", 0));
  request.iterations = static_cast<std::int64_t>(iterations);
  const bool table = env.format == OutputFormat::kTable;
  OPWRIGHT_TRY_ASSIGN(perf::Recording all, perf::read_one(recorded.report));
  if (request.window.empty() && all.windows.all.size() > 1) {
    object.add_raw("windows", perf::windows_json(all).text());
    print_object(object, {}, windows_text(all), env);
    if (table) env.out << fmt::format("\nwhich one? opwright perf {} --window NAME\n", visible(recorded.report));
    return {};
  }
  OPWRIGHT_TRY_ASSIGN(const perf::Report report, jobs::report_of(std::move(all), request));
  if (table || env.format == OutputFormat::kCsv) {
    print_report(report, {.positions = args.is_set("--all") ? SIZE_MAX : 60}, false, env);
  } else {
    object.add_raw("perf", perf::report_json(report, args.is_set("--explain")).text());
    print_object(object, {}, "", env);
  }
  return {};
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const jobs::RecordRequest request, request_of(args));
  const Passage passage(env);
  OPWRIGHT_TRY_ASSIGN(const jobs::Recorded recorded,
                      jobs::record_perf(request, [&](std::string_view text) { passage.pass(text); }));
  const JsonObject object = object_of(recorded);
  if (env.format == OutputFormat::kTable) tell(recorded, env);
  if (recorded.outcome == jobs::RecordOutcome::kReported) {
    OPWRIGHT_TRY(tell_report(args, recorded, object, env));
  } else if (env.format != OutputFormat::kTable) {
    print_object(object, {}, "", env);
    env.err << fmt::format("opwright: {}; log: {}\n", visible(recorded.why), visible(recorded.log));
  }
  env.out.flush();
  return exit_of(recorded);
}

}  // namespace

const Command kPerfRecord{"perf record",
                          "Run a program under the library's profiler, and explain its report.",
                          kDetails,
                          "",
                          0,
                          -1,
                          kFlags,
                          run,
                          true,
                          true};

}  // namespace opwright::cli
