// How a case ended: one closed vocabulary. kNotRun comes first, so that a result nobody filled in never looks green.
#pragma once

#include <cstdint>
#include <string_view>

namespace opwright {

enum class Outcome : std::uint8_t {
  kNotRun,
  kPassed,       // computed, compared with the reference, within what the dtype allows
  kMistrusted,   // nothing wrong was seen, but the output proves nothing (all zero, constant)
  kFailed,       // computed, and wrong
  kAccepted,     // the device has no numerics and would run it
  kRefused,      // a rule of the library forbids the call
  kOutOfMemory,  // no room in L1 or DRAM
  kUnsupported,  // nobody here handles the operator, an argument or a dtype
  kLost,         // the trace does not say what was called
};
std::string_view name_of(Outcome outcome);  // "passed", "out_of_memory", …

constexpr bool is_failure(Outcome outcome) {
  switch (outcome) {  // no default: the compiler asks about every new outcome
    case Outcome::kPassed:
    case Outcome::kMistrusted:
    case Outcome::kAccepted:
      return false;
    case Outcome::kNotRun:
    case Outcome::kFailed:
    case Outcome::kRefused:
    case Outcome::kOutOfMemory:
    case Outcome::kUnsupported:
    case Outcome::kLost:
      return true;
  }
  return true;
}

}  // namespace opwright
