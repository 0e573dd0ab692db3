#include "exec/attribution.h"

#include <fmt/format.h>

#include "base/words.h"

namespace opwright {
namespace {

// A case that fails half of the time fails this many times in a row with a chance of 0.2 %.
constexpr int kRepetitions = 9;

// Slow cases are repeated less often: a hang costs its whole time-out each time.
constexpr double kQuickSeconds = 0.5;
constexpr double kSlowSeconds = 5;

bool seems_failed(Outcome outcome) { return Attribution::wanted(outcome); }

}  // namespace

bool Attribution::wanted(Outcome outcome) {
  switch (outcome) {
    case Outcome::kFailed:
    case Outcome::kDeviceError:
    case Outcome::kCrashed:
    case Outcome::kTimedOut:
    case Outcome::kHostMemory:
    case Outcome::kHarnessError:
      return true;
    default:
      return false;
  }
}

Attribution::Attribution(FailureFacts facts) : facts_(std::move(facts)) {}

int Attribution::wanted_repetitions() const {
  const double seconds = facts_.record.wall_seconds;
  if (seconds <= kQuickSeconds) return kRepetitions;
  return seconds <= kSlowSeconds ? 3 : 1;
}

int Attribution::wanted_leaks() const { return (wanted_repetitions() + 1) / 2 - (wanted_repetitions() > 3 ? 1 : 0); }

std::optional<Attribution::Step> Attribution::next() const {
  if (decided_) return std::nullopt;
  if (!canary_good_) return Step::kCanary;
  if (alone_ == 0) return Step::kAlone;
  // It passed alone: whether its predecessor makes it fail is the cheaper question.
  if (alone_failed_ == 0 && facts_.has_predecessor && after_failed_ == after_ && after_ < wanted_leaks())
    return Step::kAfterPredecessor;
  return Step::kAlone;
}

void Attribution::report(const Ended& ended) {
  switch (*next()) {
    case Step::kCanary:
      canary_good_ = !seems_failed(ended.outcome) && ended.outcome != Outcome::kNotRun;
      canary_failed_ = !canary_good_;
      if (canary_failed_)
        decide(ended.device_fault ? Blame::kDevice : Blame::kMachine,
               fmt::format("the canary fails too, in a fresh process: {} {}", name_of(ended.outcome), ended.reason));
      return;
    case Step::kAlone:
      ++alone_;
      if (seems_failed(ended.outcome)) {
        ++alone_failed_;
        alone_stage_ = ended.stage;
      }
      break;
    case Step::kAfterPredecessor:
      ++after_;
      if (seems_failed(ended.outcome)) ++after_failed_;
      break;
  }
  // Always after its predecessor and never alone: chance does not do that eight times.
  const bool leaks = alone_failed_ == 0 && after_failed_ >= wanted_leaks() && alone_ >= wanted_leaks();
  if (leaks || alone_ >= wanted_repetitions()) decide_from_repetitions();
}

std::string Attribution::rate() const {
  return fmt::format("{} of {} alone in a clean process", alone_failed_, plural(alone_, "time"));
}

void Attribution::decide_from_repetitions() {
  const Outcome first = facts_.record.outcome;
  if (alone_failed_ == 0) {
    if (after_failed_ >= wanted_leaks())
      return decide(Blame::kStateLeak,
                    fmt::format("fails after the case before it ({} of {}), {}", after_failed_, after_, rate()));
    if (first == Outcome::kHostMemory && facts_.resident_limit > 0 &&
        facts_.resident_before * 2 > facts_.resident_limit)
      return decide(Blame::kStateLeak,
                    fmt::format("its process already held {} of {} when it began{}; {}",
                                size_text(facts_.resident_before), size_text(facts_.resident_limit),
                                facts_.grower.empty() ? "" : ", most of it kept by " + facts_.grower, rate()));
  }
  if (alone_failed_ < alone_)
    return decide(Blame::kFlaky, fmt::format("failed {} of {} runs: the first, and {}",
                                             alone_failed_ + after_failed_ + 1, 1 + alone_ + after_, rate()));
  const Stage stage = first == Outcome::kCrashed || first == Outcome::kTimedOut || first == Outcome::kHostMemory
                          ? alone_stage_
                          : facts_.stage;
  if (stage == Stage::kReference && first != Outcome::kFailed)
    return decide(Blame::kReference, fmt::format("{} in the reference, {}", name_of(first), rate()));
  if (first == Outcome::kFailed && facts_.record.second_opinion == Outcome::kFailed)
    return decide(Blame::kReference, fmt::format("another implementation (the library's golden function, or the "
                                                 "simulated device) fails against it too, with "
                                                 "the same data; {}",
                                                 rate()));
  if (facts_.record.blame == Blame::kDevice)
    return decide(Blame::kDevice, fmt::format("the device breaks the protocol again, {}; the canary passes", rate()));
  if (first == Outcome::kHarnessError) return decide(Blame::kHarness, fmt::format("fails again, {}", rate()));
  decide(Blame::kOperator,
         fmt::format("fails again, {}; the canary passes{}", rate(),
                     facts_.record.second_opinion == Outcome::kPassed ? ", and so does another implementation" : ""));
}

void Attribution::decide(Blame blame, std::string evidence) {
  decided_ = true;
  blame_ = blame;
  evidence_ = std::move(evidence);
}

}  // namespace opwright
