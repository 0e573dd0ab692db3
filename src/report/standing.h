// What an outcome means to somebody who reads a summary: four answers, so that no rate mixes "wrong" with "nobody
// could tell".
#pragma once

#include "model/outcome.h"

namespace opwright::report {

enum class Standing : std::uint8_t {
  kPassed,     // proven right
  kUndecided,  // nothing is wrong, and nothing is proven: accepted without numbers, mistrusted,
               // right as far as the trace says what was called, failed as expected
  kFailed,     // somebody has to look
  kNoAnswer,   // never ran, or nobody here can run it
};

constexpr Standing standing_of(Outcome outcome) {
  switch (outcome) {  // no default: the compiler asks about every new outcome
    case Outcome::kPassed:
      return Standing::kPassed;
    case Outcome::kMistrusted:
    case Outcome::kUnproven:
    case Outcome::kAccepted:
    case Outcome::kXfailed:
      return Standing::kUndecided;
    case Outcome::kNotRun:
    case Outcome::kUnsupported:
    case Outcome::kLost:
      return Standing::kNoAnswer;
    case Outcome::kVacuous:
    case Outcome::kFailed:
    case Outcome::kRefused:
    case Outcome::kOutOfMemory:
    case Outcome::kDeviceError:
    case Outcome::kCrashed:
    case Outcome::kTimedOut:
    case Outcome::kHostMemory:
    case Outcome::kHarnessError:
    case Outcome::kXpassed:
      return Standing::kFailed;
  }
  return Standing::kFailed;
}

}  // namespace opwright::report
