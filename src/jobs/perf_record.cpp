#include "jobs/perf_record.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ctime>
#include <filesystem>
#include <random>

#include "base/clock.h"
#include "base/input.h"
#include "base/json_object.h"
#include "base/secrets.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "launch/profiler.h"

namespace opwright::jobs {
namespace {

namespace fs = std::filesystem;

constexpr double kResetSeconds = 600;

// Time first, so that a listing is in order; what makes it the name of one run comes after it.
std::string new_run_id() {
  std::random_device random;
  return fmt::format("{:%Y%m%d-%H%M%S}-{:08x}", fmt::localtime(std::time(nullptr)), random());
}

Result<std::string> make_folder(const std::string& base, const std::string& id) {
  std::error_code error;
  const fs::path path = fs::absolute(fs::path(base) / id, error);
  if (!error) fs::create_directories(path.parent_path(), error);
  if (!error && fs::create_directory(path, error)) return path.string();
  return fail(ErrorCode::kIo, fmt::format("{}: {}; choose another folder with --output", base,
                                          error ? error.message() : "the run's folder is there already"));
}

std::string how_it_ended(const launch::WatchedEnd& end) {
  if (end.ended.signal != 0) return fmt::format("was ended by {}", launch::signal_text(end.ended.signal));
  return fmt::format("ended with exit status {}", end.ended.status);
}

std::string why_stopped(const RecordRequest& request, const launch::WatchedEnd& end) {
  switch (end.stopped) {
    case launch::Stopped::kTooLong:
      return fmt::format("ran longer than {:.0f} s and was ended; --timeout SECONDS gives it more",
                         request.total_seconds);
    case launch::Stopped::kSilent:
      return fmt::format("printed nothing for {:.0f} s and was ended; --silence SECONDS gives it more",
                         request.silent_seconds);
    default:
      return "was interrupted";
  }
}

std::string reset_device(const std::string& command) {
  const auto ended = capture({"/bin/sh", "-c", command}, {.seconds = kResetSeconds});
  if (!ended) return "failed: " + ended.error().message;
  if (ended->status == 0) return "done";
  return fmt::format("failed: exit status {} {}", ended->status, cut_text(ended->err, 200));
}

// What anybody needs who finds the folder later.
Status write_record(const Recorded& recorded, const launch::Environment& environment, const std::string& started) {
  JsonObject variables;
  for (const launch::Change& change : environment.changes()) variables.add(change.name, masked(change.value));
  JsonObject object;
  object.add("run", recorded.run).add("started", started).add("outcome", name_of(recorded.outcome));
  object.add_raw("command", json_array(recorded.words, false)).add_raw("environment", variables.text());
  object.add("exit", std::int64_t{recorded.end.ended.status}).add_number("seconds", recorded.end.seconds);
  object.add("report", recorded.report).add("why", recorded.why).add("reset", recorded.reset);
  return write_atomically(recorded.folder + "/run.json", object.text() + "\n");
}

}  // namespace

std::string_view name_of(RecordOutcome outcome) {
  switch (outcome) {
    case RecordOutcome::kReported:
      return "reported";
    case RecordOutcome::kProgramFailed:
      return "program_failed";
    case RecordOutcome::kStopped:
      return "stopped";
    case RecordOutcome::kNoReport:
      return "no_report";
  }
  return "no_report";
}

Result<Recorded> record_perf(const RecordRequest& request, const std::function<void(std::string_view)>& output) {
  launch::Environment environment(process_environment());
  OPWRIGHT_TRY(launch::find_command(request.command, environment));
  OPWRIGHT_TRY_ASSIGN(const launch::PythonProbe python, launch::find_profiler(request.command, environment));
  launch::ProfilerRun run{
      .id = new_run_id(), .op_support_count = request.op_support_count, .options = request.profiler_options};
  run.folder = fs::absolute(fs::path(request.folder) / run.id).string();
  OPWRIGHT_TRY_ASSIGN(const std::vector<std::string> words,
                      launch::profiled_command(request.command, python, run, environment));
  OPWRIGHT_TRY(make_folder(request.folder, run.id));
  launch::add_profiling(environment, python, run);
  Recorded recorded{.run = run.id, .folder = run.folder, .log = run.folder + "/program.log"};
  recorded.words = masked_words(words);
  const std::string started = utc_now();
  OPWRIGHT_TRY_ASSIGN(recorded.end, launch::run_watched(words.front(), words, environment,
                                                        {.log = recorded.log,
                                                         .total_seconds = request.total_seconds,
                                                         .silent_seconds = request.silent_seconds,
                                                         .late_seconds = request.late_seconds},
                                                        output));
  const Result<std::string> report = launch::find_report(run);
  if (report) recorded.report = *report;
  const bool stopped = recorded.end.stopped != launch::Stopped::kNo;
  if (stopped) {
    recorded.outcome = RecordOutcome::kStopped;
    recorded.why = "the program " + why_stopped(request, recorded.end);
    if (!request.reset_command.empty() && recorded.end.stopped != launch::Stopped::kInterrupted)
      recorded.reset = reset_device(request.reset_command);
  } else if (recorded.end.ended.status != 0) {
    recorded.outcome = RecordOutcome::kProgramFailed;
    recorded.why = "the program " + how_it_ended(recorded.end);
    if (recorded.end.ended.signal != 0 && !request.reset_command.empty())
      recorded.reset = reset_device(request.reset_command);
  } else if (recorded.report.empty()) {
    recorded.why = report
                       ? fmt::format("the program ended well, and the profiler wrote no ops_perf_results*.csv below {}",
                                     recorded.folder)
                       : report.error().message;
    if (recorded.end.killed > 0)
      recorded.why += fmt::format(
          "; {} that it had left behind were still busy after {:.0f} s and were ended (--late SECONDS)",
          plural(static_cast<std::int64_t>(recorded.end.killed), "process", "processes"), request.late_seconds);
  } else {
    recorded.outcome = RecordOutcome::kReported;
  }
  OPWRIGHT_TRY(write_record(recorded, environment, started));
  return recorded;
}

}  // namespace opwright::jobs
