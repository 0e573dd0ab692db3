// What a failure needs: each thing that is left of the smallest case taken away, or made another, alone. Where it
// passes then, the failure needs it; numbers are followed to where that begins.
#pragma once

#include <string>
#include <vector>

#include "exec/call_condition.h"
#include "shrink/search.h"

namespace opwright::shrink {

struct Needed {
  Need need;
  std::vector<std::string> same;  // other facts that are the same number, and cannot be others
  std::string seen;               // "2048 passes, 2049 fails"
};

// The case may become smaller on the way: the search has it.
std::vector<Needed> find_needs(Search& search, const Rules& rules, Trials& trials);

}  // namespace opwright::shrink
