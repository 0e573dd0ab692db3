// Two devices, one case: where do they disagree?
#pragma once

#include <string>
#include <vector>

#include "exec/run_case.h"

namespace opwright {

// One line a disagreement; empty: none, or one of the two has no answer. Outcomes of one kind agree (passed on one,
// accepted by another that has no numerics); output specs must be equal in every field where both ran it; values
// (RunOptions::keep_outputs on both) must correlate as the operator's own threshold asks, on the rows that both
// computed.
std::vector<std::string> disagreements(const CaseResult& first, const CaseResult& second);

}  // namespace opwright
