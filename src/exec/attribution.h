// Who a failure belongs to, found by repeating it: alone in clean processes, after its predecessor, and with a canary,
// a case known to be good, in between. Pure logic: somebody else runs the steps and tells how they ended.
//
//   Attribution attribution(first_record, predecessor_there);
//   while (auto step = attribution.next()) attribution.report(run(*step));
//   record.blame = attribution.blame(); record.evidence = attribution.evidence();
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "exec/job.h"
#include "model/case_record.h"

namespace opwright {

struct FailureFacts {
  CaseRecord record;                 // as it failed
  Stage stage = Stage::kEnd;         // where its worker was when it died or was stopped
  bool has_predecessor = false;      // its process had run another case before
  std::int64_t resident_before = 0;  // of its process when the case began
  std::int64_t resident_limit = 0;   // what the process may have; 0 unknown
  std::string grower;                // the earlier case of that process that kept most memory; "" none
};

class Attribution {
 public:
  enum class Step : std::uint8_t {
    kCanary,            // the canary in a fresh process
    kAlone,             // the case in a fresh process
    kAfterPredecessor,  // the predecessor and then the case in a fresh process
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
  bool canary_failed() const { return canary_failed_; }

 private:
  void decide(Blame blame, std::string evidence);
  void decide_from_repetitions();
  std::string rate() const;  // "4 of 4 times"
  int wanted_repetitions() const;
  int wanted_leaks() const;  // repetitions of each kind that show a state leak

  FailureFacts facts_;
  bool canary_good_ = false, canary_failed_ = false;
  int alone_ = 0, alone_failed_ = 0, after_ = 0, after_failed_ = 0;
  Stage alone_stage_ = Stage::kEnd;
  std::string canary_reason_;
  bool decided_ = false;
  Blame blame_ = Blame::kNobody;
  std::string evidence_;
};

}  // namespace opwright
