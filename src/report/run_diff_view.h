// A difference of two runs for people and for scripts.
#pragma once

#include <string>

#include "base/json_object.h"
#include "report/run_diff.h"

namespace opwright::report {

// At most `most` entries of each list; the others are counted.
std::string diff_text(const RunDiff& diff, std::size_t most, std::size_t width);
JsonObject diff_json(const RunDiff& diff);
// What the page says above everything else: the lists that a reader acts on, the worst of each, and how many there are.
std::string since_json(const RunDiff& diff);

}  // namespace opwright::report
