// Three who computed one case: the device, the library's golden function, our reference. Where the first two agree with
// each other and not with us, it is our reference that is wrong.
#pragma once

#include <string>

#include "exec/run_case.h"

namespace opwright {

struct Vote {
  Outcome golden = Outcome::kNotRun;  // the golden function judged against our reference
  bool reference_wrong = false;
  std::string evidence;  // of that
};

// For a case that failed on `device`: golden functions are `golden`'s, which may be the same one.
Vote vote_on_reference(const OpConfig& config, Device& device, Device& golden, RunOptions options);

}  // namespace opwright
