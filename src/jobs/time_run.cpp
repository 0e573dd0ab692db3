#include "jobs/time_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <thread>

#include "base/words.h"
#include "exec/job.h"
#include "exec/time_case.h"
#include "jobs/run_setup.h"
#include "store/store.h"

namespace opwright::jobs {
namespace {

constexpr int kTries = 3;  // of the canary: a short burst passes
constexpr std::chrono::milliseconds kBetweenTries{700};

// Cases whose times mean something: those that gave what they should.
bool is_timed(Outcome outcome) { return outcome == Outcome::kPassed || outcome == Outcome::kAccepted; }

// Time for all iterations of a round, from what the call took when it was judged.
double seconds_for(const CaseRecord& record, const PerfPlan& round) {
  const int calls = round.end_to_end.warm_up + round.end_to_end.measured + round.device.warm_up + round.device.measured;
  return 60 + 3 * record.wall_seconds + 4 * record.device_seconds * calls;
}

void append(Rounds& to, Rounds from) {
  for (auto& times : from) to.push_back(std::move(times));
}

class Timing {
 public:
  Timing(const RunRequest& request, const PlanOptions& options, RunPlan& plan, const RunWatcher& watcher)
      : request_(request), options_(options), plan_(plan), watcher_(watcher) {}

  void take(const CaseRecord& record) {
    if (is_timed(record.outcome)) records_.emplace(static_cast<std::uint32_t>(record.index), record);
  }

  Result<TimedCases> run() {
    for (int round = 0; round < request_.perf->rounds && !done_.is_interrupted; ++round) {
      Busyness busy = machine();
      for (int tried = 1; tried < kTries && !too_busy(busy).empty() && !request_.perf_force; ++tried) {
        std::this_thread::sleep_for(kBetweenTries);
        busy = machine();
      }
      done_.busiest = std::max(done_.busiest, busy.others);
      const std::string why = too_busy(busy);
      if (!why.empty() && !request_.perf_force) {
        done_.refused = fmt::format(
            "the machine is too busy to time anything: {}; wait until it is quiet, or measure "
            "all the same with --perf-force{}",
            why, round == 0 ? "" : fmt::format(" (in round {})", round + 1));
        return done_;
      }
      is_noisy_ = is_noisy_ || !why.empty();
      busy_.push_back(busy.others);
      OPWRIGHT_TRY(run_round(round));
      if (all_refused()) break;
    }
    return done_;
  }

  std::vector<CaseRecord> finished() {
    std::vector<CaseRecord> out;
    for (auto& [index, record] : records_) {
      CasePerf& perf = perfs_[index];
      if (perf.refused.empty() && perf.main().empty()) perf.refused = "it was not timed";
      perf.refused.empty() ? ++done_.timed : ++done_.refusals[perf.refused];
      if (!perf.is_modelled) perf.busy = busy_;
      perf.is_forced = is_noisy_ && !perf.is_modelled;
      record.perf = to_json(perf);
      out.push_back(std::move(record));
    }
    return out;
  }
  const TimedCases& done() const { return done_; }

 private:
  // A modelled clock is the same on every machine, however busy.
  Busyness machine() const { return options_.device().starts_with("sim") ? Busyness() : listen_to_machine(); }

  bool all_refused() const {
    return std::ranges::all_of(
        perfs_, [](const auto& item) { return !item.second.refused.empty() || item.second.is_modelled; });
  }

  Status run_round(int round) {
    const PerfPlan part = one_round(*request_.perf, round);
    OPWRIGHT_TRY_ASSIGN(WorkerSetup setup, worker_setup(options_, memory_of(request_)));
    setup.perf = part;
    setup.against.clear();
    setup.golden = setup.mutate = false;
    std::vector<std::uint32_t> order;
    for (const auto& [index, record] : records_)
      if (perfs_[index].refused.empty()) order.push_back(index);
    std::mt19937_64 random(static_cast<std::uint64_t>(round) * 7919 + 1);  // the same in every run
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
    RunnerOptions runner = runner_options(request_, options_, setup, order.size());
    runner.jobs = 1;  // two cases at once would time each other
    runner.attribute = false;
    runner.fail_fast = false;
    if (watcher_.stop) runner.interrupts = watcher_.stop;
    runner.wake = watcher_.wake;
    std::size_t next = 0;
    RunnerWorld world;
    world.next = [&]() -> Result<std::optional<std::string>> {
      if (next == order.size()) return std::optional<std::string>();
      const std::uint32_t index = order[next++];
      OPWRIGHT_TRY_ASSIGN(const std::string line, plan_.spool.read(index));
      OPWRIGHT_TRY_ASSIGN(Job job, parse_job(line));
      job.seconds = seconds_for(records_.at(index), part);
      return std::optional<std::string>(to_json(job));
    };
    world.keep = [&](const CaseRecord& record) -> Status {
      keep(record);
      return {};
    };
    world.note = [&](const std::string& text) {
      if (watcher_.note) watcher_.note(text);
    };
    world.tick = [&] {
      if (watcher_.tick) watcher_.tick();
    };
    OPWRIGHT_TRY_ASSIGN(const RunnerSummary ran, run_cases(runner, world));
    done_.is_interrupted = ran.interrupted;
    if (!ran.stopped.empty()) return fail(ErrorCode::kUnsupported, ran.stopped);
    return {};
  }

  void keep(const CaseRecord& record) {
    CasePerf& all = perfs_[static_cast<std::uint32_t>(record.index)];
    auto found = record.perf.empty() ? Result<CasePerf>(CasePerf{}) : parse_case_perf(record.perf);
    if (!found || record.perf.empty()) {
      all.refused = fmt::format("{} while it was timed: {}", name_of(record.outcome),
                                found ? record.reason : found.error().message);
      return;
    }
    if (!found->refused.empty()) {
      all.refused = found->refused;
      return;
    }
    all.is_modelled = found->is_modelled;
    all.trace = found->trace;
    all.program_cache = found->program_cache;
    append(all.device, std::move(found->device));
    append(all.end_to_end, std::move(found->end_to_end));
    append(all.host, std::move(found->host));
  }

  const RunRequest& request_;
  const PlanOptions& options_;
  RunPlan& plan_;
  const RunWatcher& watcher_;
  std::map<std::uint32_t, CaseRecord> records_;
  std::map<std::uint32_t, CasePerf> perfs_;
  std::vector<double> busy_;
  bool is_noisy_ = false;
  TimedCases done_;
};

}  // namespace

Result<TimedCases> time_cases(const RunRequest& request, const PlanOptions& options, RunPlan& plan,
                              const std::string& uid, store::ResultsWriter& results, const RunWatcher& watcher) {
  Timing timing(request, options, plan, watcher);
  {
    OPWRIGHT_TRY_ASSIGN(const auto reader, store::open_results(request.store, request.wait_ms));
    OPWRIGHT_TRY(reader->for_each(uid, [&](CaseRecord&& record) -> Status {
      timing.take(record);
      return {};
    }));
  }
  OPWRIGHT_TRY_ASSIGN(TimedCases done, timing.run());
  if (!done.refused.empty()) return done;
  for (const CaseRecord& record : timing.finished()) OPWRIGHT_TRY(results.add(uid, record));
  const bool interrupted = done.is_interrupted;
  done = timing.done();
  done.is_interrupted = interrupted;
  return done;
}

}  // namespace opwright::jobs
