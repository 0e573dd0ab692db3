// Whether a trace still has what a fused test describes: the same calls with the same arguments, field by field.
// Without a device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "fuse/fused_test.h"
#include "fuse/match.h"
#include "replay/known_calls.h"

namespace opwright::fuse {

struct Drift {
  std::string set;                     // id of the parameter set
  std::size_t call = 0;                // of the sequence
  std::string op, field, test, trace;  // what the test has, and what the trace has
  std::int64_t matches = 0;            // of the trace that differ so
};

struct DriftReport {
  std::int64_t matches = 0, equal = 0;  // of the trace; with exactly the arguments of a parameter set
  std::int64_t other_modes = 0;         // more of them, in a mode that the test is not for
  std::vector<std::string> missing;     // parameter sets that no match of the trace has
  std::vector<Drift> drifts;
  std::string no_match;  // why the sequence is not in the trace; "" it is
  bool has_drifted() const { return !no_match.empty() || !missing.empty() || !drifts.empty(); }
};

// Finds the test's own sequence, by its operations, and compares each match with the parameter set that is nearest.
Result<DriftReport> find_drift(format::NativeTrace& trace, const FusedTest& test);

// The fields in which two sets of arguments differ.
std::vector<Drift> differences(const FusedTest& test, const ParameterSet& ours, const ParameterSet& theirs);

}  // namespace opwright::fuse
