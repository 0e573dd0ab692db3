// How a step of an attribution is carried out: which jobs a worker gets for it, in which process.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec/attribution.h"
#include "exec/job.h"

namespace opwright {

// A case known to be good.
struct Canary {
  std::string op;
  std::string line;  // of its job
};

// What a worker has to do.
struct Task {
  std::string line;
  Job job;
  bool fresh = false;     // in a process that has run nothing
  bool repeated = false;  // a step of an attribution
  bool counts = true;     // false: only there to run before the next one
};

// What the process of a case had done before it.
struct Past {
  int cases = 0;                     // how many it had run
  std::vector<std::string> history;  // lines of the jobs that can be run again, the latest first
  std::string grower;                // the case that kept most memory
};

// A case that has ended.
struct EndedCase {
  CaseRecord record;
  std::string line;  // of its job
  Stage stage = Stage::kEnd;
  std::int64_t resident = 0;  // of its process when it began
  Past past;
  bool late = false;  // it failed after its answer
  bool told = false;  // that it has ended, before it had its blame
};

// Two canaries, none of them of the operation that failed: one broken operator is not a broken machine.
Result<FailureFacts> facts_of(const EndedCase& failed, const std::vector<Canary>& canaries);

Result<std::deque<Task>> tasks_of(const Attribution::Step& step, const EndedCase& failed,
                                  const std::vector<Canary>& canaries);
std::string_view words_of(const Attribution::Step& step);  // "again, alone"

}  // namespace opwright
