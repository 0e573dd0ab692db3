// Who a failure belongs to, found by repeating it: alone in clean processes, after what its process had run before, and
// with canaries, cases known to be good, in between. Pure logic: somebody else runs the steps and tells how they ended.
//
//   Attribution attribution(facts);
//   while (auto step = attribution.next()) attribution.report(run(*step));
//   record.blame = attribution.blame(); record.evidence = attribution.evidence();
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exec/job.h"
#include "model/case_record.h"

namespace opwright {

struct FailureFacts {
  CaseRecord record;                  // as it failed
  Stage stage = Stage::kEnd;          // where its worker was when it died or was stopped
  std::vector<std::string> history;   // cases that its process had run before, the latest first, as far as they can be
                                      // run again
  std::int64_t ran_before = 0;        // all of them
  std::vector<std::string> canaries;  // operations known to be good, none of them this case's
  std::int64_t resident_before = 0;   // of its process when the case began
  std::int64_t resident_limit = 0;    // what the process may have; 0 unknown
  std::string grower;                 // the earlier case of that process that kept most memory; "" none
};

class Attribution {
 public:
  struct Step {
    enum class Kind : std::uint8_t {
      kCanary,  // canary number `first` in a fresh process
      kAlone,   // the case in a fresh process
      kAfter,   // in a fresh process `count` cases of the history, the latest of them number `first`; then the case
      kAfterCanaries,  // in a fresh process `count` times a canary; then the case
    };
    Kind kind = Kind::kAlone;
    std::size_t first = 0;
    std::size_t count = 0;
    friend bool operator==(const Step&, const Step&) = default;
  };
  struct Ended {
    Outcome outcome = Outcome::kNotRun;
    Stage stage = Stage::kEnd;
    std::string reason;
    bool device_fault = false;  // the device's program did not start, or broke the protocol
  };

  explicit Attribution(FailureFacts facts);

  // Whether it is worth asking: rules, lack of device memory and the like are the same every time.
  static bool wanted(Outcome outcome);

  std::optional<Step> next() const;
  void report(const Ended& ended);

  Blame blame() const { return blame_; }
  const std::string& evidence() const { return evidence_; }
  int attempts() const { return 1 + alone_ + after_; }
  bool canary_failed() const { return phase_ == Phase::kDecided && canary_ >= facts_.canaries.size(); }

 private:
  enum class Phase : std::uint8_t {
    kCanaries,
    kAlone,        // once
    kPredecessor,  // it passed alone: whether the case before makes it fail is the cheapest question
    kHistory,      // … then whether all of them do,
    kBisect,       // … how far back the cause lies,
    kSingle,       // … whether that case alone is it,
    kCounted,      // … or the mere number of cases
    kConfirm,      // a cause was found: it must fail with it and pass without, again and again
    kRepeat,       // alone, until it is known how often it fails
    kDecided,
  };

  void report_canary(const Ended& ended);
  void report_after(bool failed);
  void suspect(Step step);
  void decide(Blame blame, std::string evidence);
  void decide_from_repetitions();
  void decide_leak();
  std::string rate() const;          // "4 of 4 times alone in a clean process"
  std::string what_ran() const;      // "the last 256 of 900 cases that ran before it"
  std::string canary_words() const;  // "the canary passes"
  int wanted_repetitions() const;
  int wanted_leaks() const;  // repetitions of each kind that show a state leak

  FailureFacts facts_;
  Phase phase_ = Phase::kCanaries;
  std::size_t canary_ = 0;          // that runs now, or passed
  std::string canary_reason_;       // of the first that failed
  std::size_t good_ = 1, bad_ = 0;  // after so many of its history it passed, failed
  Step cause_;                      // what seems to make it fail
  int cause_failed_ = 0;
  int alone_ = 0, alone_failed_ = 0, after_ = 0, after_failed_ = 0;
  Stage alone_stage_ = Stage::kEnd;
  Blame blame_ = Blame::kNobody;
  std::string evidence_;
};

}  // namespace opwright
