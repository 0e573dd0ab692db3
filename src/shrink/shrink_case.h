// All of it in order: the sequence before the case, the case, the cases before it, and what the failure needs.
#pragma once

#include <vector>

#include "shrink/needs.h"
#include "shrink/trial.h"

namespace opwright::shrink {

struct Shrunk {
  Subject smallest;
  std::vector<Needed> needs;
};

// `subject` is known to fail. The trials say what was tried, and whether the budget ended it.
Shrunk shrink_case(const Subject& subject, const Rules& rules, Trials& trials);

}  // namespace opwright::shrink
