// A suite in isolated workers, from what was asked for to its analysis: planned, recorded, run, judged, resumed.
//
//   RunRequest request{.store = "opwright.db", .choice = {.where = "model~llama", .device = "sim:n300"}};
//   Result<RunReport> report = run_suite(request, watcher);   // results are in the store as they come
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec/runner.h"
#include "jobs/profile_run.h"
#include "jobs/run_choice.h"
#include "jobs/run_plan.h"
#include "model/case_record.h"
#include "model/perf.h"
#include "report/analysis.h"

namespace opwright::jobs {

struct RunRequest {
  std::string store;
  int wait_ms = 60'000;
  RunChoice choice;
  std::string resume;    // the run to go on with: a uid, its beginning, "last"; "" a new run
  bool dry_run = false;  // plan only
  std::string command;   // how it was asked for, for the record

  int jobs = 0;                // workers at the same time; 0: the machine's cores
  std::int64_t memory = 0;     // bytes of all workers together; 0: 80 % of the machine
  double cpu_seconds = 0;      // of one case; 0: no limit
  bool attribute = true;       // repeat failures to find out who is to blame
  bool attribute_all = false;  // … each of them, whatever that takes, not one of each cause
  bool fail_fast = false;
  std::string reset_command;     // run by the shell after a hang
  std::string profile_csv;       // of a simulated device: its clock as a profiler report, to this file; "" none
  std::optional<PerfPlan> perf;  // cases that are right are timed afterwards (jobs/time_run.h)
  bool perf_force = false;       // also on a machine that is too busy
  bool durable = false;          // the disk has each result before the next case starts
  std::vector<std::string> worker{"/proc/self/exe", "worker"};  // a program that serves as a worker (exec/worker.h)
};

struct RunSize {
  std::int64_t total = 0;        // cases, those that were done before included
  std::int64_t done_before = 0;  // of a resumed run
  double seconds = 0;            // estimated, of the cases still to run, on one worker; 0: nobody knows
  int slots = 1;                 // cases that run at the same time
};

// Progress and stop. All are called on the thread of run_suite, in this order; each may be empty.
struct RunWatcher {
  std::function<void(const RunRecord&)> resumed;                               // the run that goes on
  std::function<void(std::int64_t vectors, std::size_t operations)> announce;  // a product, before it is made
  std::function<void(const PlanSummary&)> planned;
  std::function<void(const RunSize&)> begins;
  std::function<void(int slot, std::string_view op, std::string_view line, double estimated_seconds)> case_started;
  std::function<void(int slot, std::string_view what)> step;  // done for the slot's case beside running it
  std::function<void(int slot, const CaseRecord&)> case_ended;
  // A failure that had ended got its blame, and so did so many others of the same cause.
  std::function<void(const CaseRecord& repeated, std::int64_t others)> blamed;
  std::function<void(const std::string&)> note;
  std::function<void()> tick;  // some times a second
  // All workers are gone; null: the run was broken off.
  std::function<void(const RunnerSummary*)> ended;

  // Looked at once the run begins: whoever catches signals may do so from `begins` on.
  std::function<int()> stop;  // how often a stop was asked for: 1, finish what runs; 2, at once
  int wake = -1;              // becomes readable when that changes; -1: it is asked some times a second
};

// What became of the timed part of a run.
struct TimedCases {
  std::int64_t timed = 0;
  std::map<std::string, std::int64_t> refusals;  // why the others have no times -> cases
  std::string refused;                           // why nothing was timed at all; "" it was
  double busiest = 0;                            // the part of all cores that others used before a round, at most
  bool is_interrupted = false;
};

struct RunReport {
  enum class End : std::uint8_t {
    kNothingToResume,
    kPlanned,   // a dry run
    kNotBegun,  // stopped before a device answered: no run was stored
    kRan,
  } end = End::kRan;
  RunRecord run;                      // kNothingToResume and kRan
  PlanSummary plan;                   // kPlanned and kRan
  RunnerSummary ran;                  // kRan, as below
  std::string course;                 // kRan: how early what was seen, and what a budget covered, for people
  report::Analysis analysis;          // of all results of the run
  std::optional<TimedCases> timed;    // kRan, where it was asked for
  std::optional<RunProfile> profile;  // kRan, where one was asked for
};

// A request that makes no sense, a store that cannot be read, a plan without cases, a run that was broken off: an
// error, which says what is left of the run. Cases that fail are no error: the analysis has them.
Result<RunReport> run_suite(const RunRequest& request, const RunWatcher& watcher = {});

}  // namespace opwright::jobs
