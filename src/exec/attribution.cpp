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

constexpr std::size_t kShownLine = 160;

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

Attribution::Attribution(FailureFacts facts) : facts_(std::move(facts)) {
  if (facts_.canaries.empty()) phase_ = Phase::kAlone;
}

int Attribution::wanted_repetitions() const {
  const double seconds = facts_.record.wall_seconds;
  if (seconds <= kQuickSeconds) return kRepetitions;
  return seconds <= kSlowSeconds ? 3 : 1;
}

int Attribution::wanted_leaks() const { return (wanted_repetitions() + 1) / 2 - (wanted_repetitions() > 3 ? 1 : 0); }

std::optional<Attribution::Step> Attribution::next() const {
  using Kind = Step::Kind;
  switch (phase_) {
    case Phase::kCanaries:
      return Step{Kind::kCanary, canary_, 1};
    case Phase::kAlone:
    case Phase::kRepeat:
      return Step{};
    case Phase::kPredecessor:
      return Step{Kind::kAfter, 0, 1};
    case Phase::kHistory:
      return Step{Kind::kAfter, 0, facts_.history.size()};
    case Phase::kBisect:
      return Step{Kind::kAfter, 0, (good_ + bad_) / 2};
    case Phase::kSingle:
      return Step{Kind::kAfter, bad_ - 1, 1};
    case Phase::kCounted:
      return Step{Kind::kAfterCanaries, canary_, bad_};
    case Phase::kConfirm:
      return cause_failed_ < wanted_leaks() ? cause_ : Step{};
    case Phase::kDecided:
      return std::nullopt;
  }
  return std::nullopt;
}

void Attribution::report(const Ended& ended) {
  const Step step = *next();
  if (step.kind == Step::Kind::kCanary) return report_canary(ended);
  const bool failed = seems_failed(ended.outcome);
  if (step.kind != Step::Kind::kAlone) {
    ++after_;
    after_failed_ += failed ? 1 : 0;
    report_after(failed);
  } else {
    ++alone_;
    if (failed) {
      ++alone_failed_;
      alone_stage_ = ended.stage;
    }
    if (phase_ == Phase::kAlone)
      phase_ = failed || facts_.history.empty() ? Phase::kRepeat : Phase::kPredecessor;
    else if (phase_ == Phase::kConfirm && failed)
      phase_ = Phase::kRepeat;  // it fails without its cause too: chance
  }
  // Always with its cause and never without: chance does not do that eight times.
  if (phase_ == Phase::kConfirm && cause_failed_ >= wanted_leaks() && alone_ >= wanted_leaks()) return decide_leak();
  if (phase_ == Phase::kRepeat && alone_ >= wanted_repetitions()) decide_from_repetitions();
}

void Attribution::report_canary(const Ended& ended) {
  if (!seems_failed(ended.outcome) && ended.outcome != Outcome::kNotRun) {
    phase_ = Phase::kAlone;
    return;
  }
  if (canary_ == 0) canary_reason_ = fmt::format("{} {}", name_of(ended.outcome), ended.reason);
  // One operator that fails is one operator. When all fail that have nothing to do with each other, it is none of them.
  if (++canary_ < facts_.canaries.size()) return;
  decide(ended.device_fault ? Blame::kDevice : Blame::kMachine,
         fmt::format("{} {}, in a fresh process: {}", fmt::join(facts_.canaries, " and "),
                     facts_.canaries.size() == 1 ? "fails too" : "fail too", canary_reason_));
}

void Attribution::report_after(bool failed) {
  switch (phase_) {
    case Phase::kPredecessor:
      if (failed) return suspect({Step::Kind::kAfter, 0, 1});
      phase_ = facts_.history.size() > 1 ? Phase::kHistory : Phase::kRepeat;
      return;
    case Phase::kHistory:
      bad_ = facts_.history.size();
      phase_ = !failed ? Phase::kRepeat : bad_ - good_ > 1 ? Phase::kBisect : Phase::kSingle;
      return;
    case Phase::kBisect:
      (failed ? bad_ : good_) = (good_ + bad_) / 2;
      if (bad_ - good_ <= 1) phase_ = Phase::kSingle;
      return;
    case Phase::kSingle:
      if (failed) return suspect({Step::Kind::kAfter, bad_ - 1, 1});
      if (facts_.canaries.empty()) return suspect({Step::Kind::kAfter, 0, bad_});
      phase_ = Phase::kCounted;
      return;
    case Phase::kCounted:
      if (failed) return suspect({Step::Kind::kAfterCanaries, canary_, bad_});
      return suspect({Step::Kind::kAfter, 0, bad_});
    case Phase::kConfirm:
      if (failed)
        ++cause_failed_;
      else
        phase_ = Phase::kRepeat;
      return;
    default:
      return;
  }
}

void Attribution::suspect(Step step) {
  cause_ = step;
  // What was only concluded, not seen, begins at nothing.
  cause_failed_ = phase_ == Phase::kCounted && step.kind == Step::Kind::kAfter ? 0 : 1;
  phase_ = Phase::kConfirm;
}

std::string Attribution::rate() const {
  return fmt::format("{} of {} alone in a clean process", alone_failed_, plural(alone_, "time"));
}

std::string Attribution::what_ran() const {
  const auto again = static_cast<std::int64_t>(facts_.history.size());
  if (again >= facts_.ran_before) return "what ran before it";
  return fmt::format("the last {} of {} cases that ran before it", again, facts_.ran_before);
}

std::string Attribution::canary_words() const {
  if (canary_ == 0) return "the canary passes";
  return fmt::format("of the canaries {} fails too ({}), {} passes", facts_.canaries.front(), canary_reason_,
                     facts_.canaries.at(canary_));
}

void Attribution::decide_leak() {
  const auto line = [&](std::size_t n) { return cut_text(facts_.history.at(n), kShownLine); };
  std::string after;
  if (cause_.kind == Step::Kind::kAfterCanaries)
    after = fmt::format("{} in its process, whichever they are",
                        plural(static_cast<std::int64_t>(cause_.count), "earlier case"));
  else if (cause_.count > 1)
    after = fmt::format("the {} cases before it together, the first of them {}", cause_.count, line(cause_.count - 1));
  else if (cause_.first == 0)
    after = fmt::format("the case before it, {}", line(0));
  else
    after = fmt::format("a case that ran {} cases before it in its process, {}", cause_.first + 1, line(cause_.first));
  decide(Blame::kStateLeak,
         fmt::format("fails after {} ({} of {} times), {}", after, cause_failed_, cause_failed_, rate()));
}

void Attribution::decide_from_repetitions() {
  const Outcome first = facts_.record.outcome;
  if (alone_failed_ == 0 && first == Outcome::kHostMemory && facts_.resident_limit > 0 &&
      facts_.resident_before * 2 > facts_.resident_limit)
    return decide(Blame::kStateLeak,
                  fmt::format("its process already held {} of {} when it began{}; {}",
                              size_text(facts_.resident_before), size_text(facts_.resident_limit),
                              facts_.grower.empty() ? "" : ", most of it kept by " + facts_.grower, rate()));
  if (alone_failed_ + after_failed_ == 0)
    return decide(Blame::kNotReproduced,
                  fmt::format("failed once, and never again: {}{}", rate(),
                              after_ > 0 ? fmt::format(", 0 of {} after {}", plural(after_, "time"), what_ran()) : ""));
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
    return decide(Blame::kDevice, fmt::format("the device breaks the protocol again, {}; {}", rate(), canary_words()));
  if (first == Outcome::kHarnessError) return decide(Blame::kHarness, fmt::format("fails again, {}", rate()));
  decide(Blame::kOperator,
         fmt::format("fails again, {}; {}{}", rate(), canary_words(),
                     facts_.record.second_opinion == Outcome::kPassed ? ", and so does another implementation" : ""));
}

void Attribution::decide(Blame blame, std::string evidence) {
  phase_ = Phase::kDecided;
  blame_ = blame;
  evidence_ = std::move(evidence);
}

}  // namespace opwright
