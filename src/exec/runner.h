// Runs cases in worker processes: hands them out, watches time and memory, replaces what dies or hangs, finds out who a
// failure belongs to, and hands every result over before the next case starts on that worker. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec/job.h"
#include "exec/repetition.h"
#include "exec/worker_process.h"

namespace opwright {

struct RunnerOptions {
  WorkerCommand worker;
  int jobs = 1;
  double start_seconds = 120;     // for a worker to say hello: a real library and its device need their time
  std::int64_t worker_bytes = 0;  // memory of one worker; 0: no limit
  double cpu_seconds = 0;         // of one case; 0: no limit
  bool attribute = true;
  bool attribute_all = false;  // each failure, whatever it costs; else one of each cause, within a share of the time
  // Nothing starts any more after the first of them, which is `--budget`; what still runs at the second is stopped.
  std::optional<std::chrono::steady_clock::time_point> deadline, cut_off;
  bool fail_fast = false;
  std::vector<Canary> canaries;                        // of different families
  std::string reset_command;                           // run by the shell after a hang; "" none
  std::function<int()> interrupts = [] { return 0; };  // 1: finish what runs; 2: stop at once
  int wake = -1;                                       // becomes readable when `interrupts` changes
};

// What the runner needs from and tells to those around it.
struct RunnerWorld {
  // The next job line; nothing when there is none, or none that may start beside those that run.
  std::function<Result<std::optional<std::string>>()> next;
  // The first worker's hello, before any result: what device it has.
  std::function<Status(const json::Node& hello)> hello = [](const json::Node&) { return Status(); };
  // Called at once with every result, and once more when its blame is known.
  std::function<Status(const CaseRecord&)> keep;
  std::function<void(int slot, const Job&)> started = [](int, const Job&) {};
  // Once: with its blame, or before it is known, where a case is not repeated at once.
  std::function<void(int slot, const CaseRecord&)> ended = [](int, const CaseRecord&) {};
  // Failures of one cause, which had ended before, got their blame from one that was repeated.
  std::function<void(const CaseRecord& repeated, std::int64_t others)> shared = [](const CaseRecord&, std::int64_t) {};
  // Whether a case that had ended may run again now, as far as memory goes; then `over` follows.
  std::function<bool(const CaseRecord&)> again = [](const CaseRecord&) { return true; };
  std::function<void(const CaseRecord&)> over = [](const CaseRecord&) {};
  // A case that had ended, and whose process did something afterwards: the record as it is now.
  std::function<void(const CaseRecord&)> corrected = [](const CaseRecord&) {};
  // What is done for the slot's case beside running it: "again, alone".
  std::function<void(int slot, std::string_view)> step = [](int, std::string_view) {};
  std::function<void()> tick = [] {};  // some times a second
  std::function<void(const std::string&)> note = [](const std::string&) {};
};

struct RunnerSummary {
  std::int64_t cases = 0;
  std::int64_t repetitions = 0;  // beside, to find who is to blame
  std::int64_t workers = 0;      // started
  std::int64_t died = 0, hung = 0, recycled = 0;
  std::int64_t shared = 0;        // failures that have their blame from another of the same cause
  std::int64_t not_repeated = 0;  // failures of causes for which there was no time
  double repeated_seconds = 0;    // of workers
  double worker_seconds = 0;      // of all workers together, whole run
  std::int64_t cut_off = 0;       // cases that ran when the time was over, and have no result
  bool time_over = false;         // --budget: cases are left
  bool interrupted = false;
  std::string stopped;  // why the run was given up before its end; "" it was not
};

Result<RunnerSummary> run_cases(const RunnerOptions& options, const RunnerWorld& world);

}  // namespace opwright
