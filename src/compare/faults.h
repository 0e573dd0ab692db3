// Faults planted behind the comparer: would the judge have noticed? A case that passes with all of these wrong outputs
// proves nothing.
//
// Each fault is applied to a copy of the judged rows of an output that passed, and the judge is asked again. A fault
// counts only where it changes the output by clearly more than the output's own error, so that swapping two equal
// columns, or an input that is as good a result as the output, is no fault.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/judge.h"

namespace opwright {

// The judged rows as one matrix; rows that were not judged are not in it.
struct FaultContext {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::span<const double> exact;  // rows x columns
  std::span<const double> stale;  // the same places of an input of the output's size; empty: there is none
  const ErrorBudget& budget;
  WorstElement worst;  // of the verdict on the right output; its index is a place in the matrix
  std::uint64_t seed = 0;
};

struct Fault {
  std::string_view name;
  // A test that does not notice it is vacuous. The others may lie within what a sound kernel shows (a common factor of
  // some percent in long sums of bfloat16, a coarser format in an approximate operator): reported, never counted
  // against the case.
  bool must = true;
  // Changes the output; false where it does not apply (NaN in integers, columns of one column).
  bool (*apply)(HostTensor& output, const FaultContext& context) = nullptr;
};
std::span<const Fault> all_faults();

struct FaultReport {
  std::int64_t tried = 0;              // faults that a test must notice
  std::int64_t noticed = 0;            // … and that the judge saw
  std::vector<std::string> unnoticed;  // the others
  std::vector<std::string> tolerated;  // unnoticed faults that need not be noticed
  std::vector<std::string> idle;       // faults that would change nothing here
  std::string why_none;                // why nothing was tried: the right output did not pass by itself

  bool vacuous() const { return noticed < tried; }
  // Adds another output of the same case.
  void add(const FaultReport& other, std::string_view output);
};

struct FaultOptions {
  std::int64_t most_elements = std::int64_t{1} << 18;  // of the judged rows; of more a part is taken
  std::uint64_t seed = 1;
};

// `judged` as the judge got it, and passed it; `inputs` of the call, for outputs that were never written.
FaultReport try_faults(const Judged& judged, const JudgeOptions& judging, std::span<const HostTensor> inputs,
                       const FaultOptions& options = {});

}  // namespace opwright
