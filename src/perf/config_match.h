// A short report looked for in a long one by its configurations alone: does a test of a fused sequence run what the
// module runs? Times play no part.
#pragma once

#include <vector>

#include "base/result.h"
#include "perf/position_alignment.h"
#include "perf/report.h"
#include "perf/signature_diff.h"

namespace opwright::perf {

// A place of the long report that has the short one's operations, in order, by name.
struct ConfigPlace {
  std::size_t first = 0;             // position
  bool wraps = false;                // goes on at the beginning of the next iteration
  std::size_t fields_differing = 0;  // of all operations together; 0: the configurations are equal
};

struct ConfigMatch {
  std::vector<ConfigPlace> equal;  // every place where all configurations are equal
  std::vector<ConfigPlace> named;  // where `equal` is empty: operations of the same names; the fewest differences first
  // Where both are empty: the closest part of the long report, operation by operation; b is a position of it.
  std::vector<AlignedStep> closest;
};

// `part` is looked for in `whole`. Each is one iteration; a place may go over the end of `whole` where it has several.
Result<ConfigMatch> match_configs(const Report& part, const Report& whole, const std::vector<std::string>& ignored);

// Operation i of `part` against its counterpart at `place`.
std::vector<FieldDifference> fields_at(const Report& part, const Report& whole, const ConfigPlace& place, std::size_t i,
                                       const std::vector<std::string>& ignored);

}  // namespace opwright::perf
