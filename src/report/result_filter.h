// Which results of a run are looked at: `--op`, `--outcome`, `--model`, `--disagreeing`, `--where`. Of one kind any may
// match, of all kinds one must.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "report/result_stream.h"

namespace opwright::report {

struct ResultFilter {
  std::vector<std::string> ops;       // ttnn.add, or its last part: add
  std::vector<std::string> outcomes;  // of the vocabulary, or "failure": whatever somebody has to look at
  std::vector<std::string> models;

  bool disagreeing = false;  // of a differential run: where the two devices answered, and not the same

  std::function<bool(const CaseRecord&)> where;  // what a selector asks of the configuration; empty: nothing

  bool empty() const { return !where && ops.empty() && outcomes.empty() && models.empty() && !disagreeing; }
  // Whether the outcomes are words of the vocabulary; an error names near ones.
  Status check() const;
  bool matches(const CaseRecord& record) const;
};

// Only what matches. An error names near operators and models when nothing of the run does.
ResultStream filtered(ResultStream results, ResultFilter filter);

}  // namespace opwright::report
