// What changed between two runs, case by case. A case is the same in both when its vector id is; where a run has no
// ids, when key and suite are, and last its case line. Two passes over each run: the first keeps numbers only, the
// second fetches the texts of what is reported, so that memory is about 200 bytes a case.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/case_record.h"
#include "report/noise.h"
#include "report/result_stream.h"

namespace opwright::report {

// One case of a list of a diff. `from` and `to` are texts of the outcome, the PCC, … that changed.
struct Change {
  std::string op, line, repeat, from, to;
  std::string reason;  // of B where it failed
  double size = 0;     // how large it is, for the order: larger is worse
};

struct RunDiff {
  RunRecord a, b;
  std::int64_t cases_a = 0, cases_b = 0, both = 0, same_outcome = 0;
  std::int64_t repeated = 0;  // results beyond the first of one case: its worst outcome counts, and all of its times

  std::vector<Change> new_failures;       // fails in B, did not in A
  std::vector<Change> failing_new_cases;  // fails in B, is not in A
  std::vector<Change> lost_verdicts;      // passed in A, has no verdict in B
  std::vector<Change> fixed;              // failed in A, passes in B
  std::vector<Change> changed;            // other changes of the outcome
  std::vector<Change> only_a, only_b;
  std::vector<Change> accuracy_drops;  // PCC or ULP
  std::vector<Change> accuracy_gains;
  std::vector<Change> memory_growth;  // L1 a core or DRAM
  std::int64_t compared_pcc = 0, compared_memory = 0;
  std::int64_t other_data = 0;  // pairs whose seed or distribution differs: wider limits for accuracy

  TimeVerdict times;                     // of the call on the device
  std::vector<Change> slower, faster;    // texts of times.slower, times.faster, in their order
  std::map<int, std::string> operators;  // names of the groups of times
  std::vector<std::string> cautions;     // what makes the two hard to compare: other device, host, seed, unfinished

  // Something is worse in a way that needs no statistics.
  bool has_new_failure() const { return !new_failures.empty() || !failing_new_cases.empty() || !lost_verdicts.empty(); }
};

Result<RunDiff> diff_runs(const RunRecord& a, const ResultStream& results_a, const RunRecord& b,
                          const ResultStream& results_b);

}  // namespace opwright::report
