// Times of runs with --perf: of one run, of two compared, of one case over all runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobs/look_at_results.h"
#include "report/perf_stats.h"

namespace opwright::jobs {

struct CaseTimes {
  std::string op, line, refused;  // refused: why it has none
  bool is_modelled = false, is_forced = false;
  std::optional<TimeFigures> device, end_to_end, host;
};
struct RunTimes {
  std::vector<CaseTimes> cases;  // in the order of the plan
  std::int64_t not_timed = 0;    // results of a run without --perf, and cases that were not right
};
Result<RunTimes> times_of_run(const RunResults& results);

struct ComparedTimes {
  std::string op, line, repeat;
  double median_a = 0, median_b = 0;  // ns
  report::TimeChange change;
  report::Told told = report::Told::kCannotTell;
};
struct TimesDiff {
  RunRecord a, b;
  std::vector<ComparedTimes> cases;  // slower ones first, then faster, the rest by chance
  std::int64_t slower = 0, faster = 0, same = 0, cannot_tell = 0;
  std::int64_t not_timed = 0;         // in both runs, and without a time in one of them
  std::int64_t only_one = 0;          // in one run alone
  std::vector<std::string> cautions;  // what makes the two hard to compare
};
Result<TimesDiff> diff_times(const ResultsQuestion& question, const std::string& a, const std::string& b,
                             const report::TellOptions& options);

// One case over the runs of the store.
struct HistoryEntry {
  RunRecord run;
  Outcome outcome = Outcome::kNotRun;
  std::optional<TimeFigures> time;  // the chip's where there is one
  std::string clock;                // device, end to end, modelled, call (of runs without --perf)
  bool is_change = false;           // from here on another level
  double ratio = 1;                 // of a change: this level / the one before
};
struct History {
  std::string line, op;
  std::vector<HistoryEntry> entries;  // by device, then by time
};
// `wanted`: the case line, or the beginning of the vector's id or of the key. Fails where it means none, or several.
Result<History> history_of(const ResultsQuestion& question, const std::string& wanted);

}  // namespace opwright::jobs
