#include "model/outcome.h"

namespace opwright {

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kNotRun:
      return "not_run";
    case Outcome::kPassed:
      return "passed";
    case Outcome::kMistrusted:
      return "mistrusted";
    case Outcome::kFailed:
      return "failed";
    case Outcome::kAccepted:
      return "accepted";
    case Outcome::kRefused:
      return "refused";
    case Outcome::kOutOfMemory:
      return "out_of_memory";
    case Outcome::kUnsupported:
      return "unsupported";
    case Outcome::kLost:
      return "lost";
  }
  return "";
}

}  // namespace opwright
