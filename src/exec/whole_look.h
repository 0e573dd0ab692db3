// A second look at a case on whole numbers. Sums of a few thousand rounded products may lie so far from the exact ones
// that a wrong element is none too wrong; sums of small whole numbers are exact in every accumulator, and there nothing
// is forgiven.
#pragma once

#include <functional>

#include "exec/run_case.h"

namespace opwright {

using RunOnce = std::function<CaseResult(const RunOptions& options)>;

// Where the bound of a passed case is wide beside the spread of its values, or planted faults went unnoticed, and whole
// numbers would be exact: runs it again on them, by fewer rows, and says so in the result.
void look_on_whole_numbers(const OpConfig& config, const Board& board, const RunOptions& options, const RunOnce& run,
                           CaseResult& result);

}  // namespace opwright
