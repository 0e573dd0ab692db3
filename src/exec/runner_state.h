// The runner's inside: one thread, its workers, and what is left to do. runner.cpp hands out and watches,
// runner_hears.cpp has what workers say, or do not say any more, runner_blames.cpp what a case's end means and who a
// failure belongs to.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "exec/aftermath.h"
#include "exec/attribution.h"
#include "exec/repetition.h"
#include "exec/runner.h"
#include "exec/shared_blame.h"

namespace opwright {

class Runner {
 public:
  Runner(const RunnerOptions& options, const RunnerWorld& world);
  Result<RunnerSummary> run();

 private:
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;

  struct Slot {
    std::optional<WorkerProcess> worker;
    bool ready = false;  // its worker said hello
    std::deque<Task> tasks;
    bool running = false;
    bool begun = false;  // the worker said so of the case that runs
    Clock::time_point since, deadline;
    Clock::time_point taken;  // its task: before `since` where a worker had to be started
    Stage stage = Stage::kStart;
    ProcessUsage at_start;
    std::optional<EndedCase> last;  // that this worker answered

    std::optional<Attribution> attribution;
    EndedCase failed;  // that is attributed

    bool busy() const { return running || !tasks.empty() || attribution.has_value(); }
  };

  int number_of(const Slot& slot) const { return static_cast<int>(&slot - slots_.data()); }
  bool handing_out() const { return !summary_.interrupted && summary_.stopped.empty() && !dry_ && !summary_.time_over; }

  Status fill_slots();
  Status start_task(Slot& slot);
  Status send_task(Slot& slot);
  Status wait();
  Status finish_workers();
  Status check_limits();
  Status stop(Slot& slot, Outcome outcome, std::string reason);
  Status reset();

  Status listen(Slot& slot);
  Status heard(Slot& slot, const std::string& line);
  Status garbage(Slot& slot, const std::string& line);
  // A worker that has no device. The first of a run means that there is no run; later the device is to blame, which
  // worked before: that costs a case, and in the end the rest of the run.
  Status not_started(Slot& slot, std::string problem);
  Status died(Slot& slot);
  // The record of a case that did not come back.
  CaseRecord lost_record(const Slot& slot, Outcome outcome, std::string reason) const;

  // What the slot's process did before its last case: the one that runs, or (`answered`) the one that it answered.
  static Past past_of(const Slot& slot, bool answered);
  static void apply(const Aftermath& what, CaseRecord& record);
  // Whether what the slot's worker does now belongs to the case that it has answered: it has not begun another.
  static bool after_answer(const Slot& slot);
  // The last case of the slot's worker was answered, and then this happened.
  Status too_late(Slot& slot, const Aftermath& what, Past past);
  // `past` where the slot's worker is gone.
  Status case_ended(Slot& slot, CaseRecord record, Stage stage, std::optional<Past> past = std::nullopt);
  Status attribute(Slot& slot, EndedCase failed);
  Status next_step(Slot& slot);
  // One failure of each cause is repeated, within its share of the time; the others share its blame.
  Status blame_once(Slot& slot, EndedCase failed);
  Status settle(const CaseRecord& repeated);
  Status share(EndedCase failed);
  Status repeat_postponed(Slot& slot);
  Status give_up_postponed();
  double repeating_allowed() const;  // seconds of workers, by now
  bool may_repeat() const;
  // The time is over: what is only repeated, or has not begun, is left.
  void leave_what_waits();

  const RunnerOptions& options_;
  const RunnerWorld& world_;
  std::vector<Slot> slots_;
  json::Document document_;
  RunnerSummary summary_;
  bool dry_ = false;
  bool greeted_ = false;
  std::string numerics_;  // of the first hello
  int starts_in_a_row_ = 0;
  int unfit_in_a_row_ = 0;
  Clock::time_point begun_ = Clock::now();
  SharedBlame shared_;
  std::deque<EndedCase> postponed_;  // failed, and are repeated when there is time for it
  std::deque<EndedCase> late_;       // failed after their answers, and are not attributed yet
  std::deque<Task> returned_;        // sent to workers that died before they began
};

}  // namespace opwright
