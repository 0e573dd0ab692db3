// How a case ended, and who is to blame: closed vocabularies. kNotRun comes first, so that a result nobody filled in
// never looks green.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace opwright {

enum class Outcome : std::uint8_t {
  kNotRun,
  kPassed,        // computed, compared with the reference, within what the dtype allows, executed as traced
  kMistrusted,    // nothing wrong was seen, but the output proves nothing (all zero, constant)
  kVacuous,       // would have passed, but planted faults would have passed too
  kUnproven,      // would have passed, but what was executed is not what was traced
  kFailed,        // computed, and wrong
  kAccepted,      // the device has no numerics and would run it
  kRefused,       // a rule of the library forbids the call
  kOutOfMemory,   // no room in L1 or DRAM
  kUnsupported,   // nobody here handles the operator, an argument or a dtype
  kLost,          // the trace does not say what was called
  kDeviceError,   // the device failed in the call, not by a rule
  kCrashed,       // its process died
  kTimedOut,      // its process did not answer in time
  kHostMemory,    // its process needed more memory than it may have
  kHarnessError,  // our own part failed: protocol garbage, a reference that threw
  kXfailed,       // a case of an xfail suite that did not pass, as expected
  kXpassed,       // … that passed
  // What we hold it against is wrong, our reference or our rules: others agree with each other and not with us.
  kReferenceWrong,
};
std::span<const Outcome> all_outcomes();
std::string_view name_of(Outcome outcome);  // "passed", "out_of_memory", …
std::optional<Outcome> parse_outcome(std::string_view name);

// What an outcome means to somebody who reads a summary: four answers, so that no rate mixes "wrong" with "nobody
// could tell".
enum class Standing : std::uint8_t {
  kPassed,     // proven right
  kUndecided,  // nothing is wrong, and nothing is proven: accepted without numbers, mistrusted,
               // right as far as the trace says what was called, failed as expected
  kFailed,     // somebody has to look
  kNoAnswer,   // never ran, or nobody here can run it
};
Standing standing_of(Outcome outcome);

// Whether somebody should look at it: what failed, and what got no answer. The latter is no failure of the operator,
// but a run that has it says so.
inline bool is_failure(Outcome outcome) {
  const Standing standing = standing_of(outcome);
  return standing == Standing::kFailed || standing == Standing::kNoAnswer;
}

// Who a failure belongs to, by evidence of repetitions.
enum class Blame : std::uint8_t {
  kNobody,         // nothing failed, or nobody looked
  kOperator,       // fails again, alone, in a clean process
  kReference,      // the reference threw, died or gave no finite number where one is due
  kHarness,        // our own protocol or worker
  kStateLeak,      // fails after what its process ran before, passes alone
  kFlaky,          // now so, now so, alone in a clean process
  kMachine,        // the canary fails too
  kDevice,         // the device's program does not start, breaks the protocol or touches what is not its own
  kNotReproduced,  // failed once, and never again
};
// "op", "reference", "harness", "state leak", "flaky", "machine", "device", "not reproduced"; "" for nobody
std::string_view name_of(Blame blame);
std::optional<Blame> parse_blame(std::string_view name);

// The existing sweep framework's name: "PASS", "FAIL_ASSERT_EXCEPTION", "FAIL_CRASH_HANG", "NOT_RUN", …
std::string_view sweep_status(Outcome outcome);

}  // namespace opwright
