// `fuse suggest`: sequences of one or several traces that are worth a fused operator.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "fuse/suggest.h"

namespace opwright::jobs {

struct FuseSuggestRequest {
  std::vector<std::string> traces;  // files, folders, or traces of the store
  std::string store;
  int wait_ms = 0;
  std::string profile;  // a profiler report: measured times by device operation; "" the clock of the simulated device
  fuse::SuggestOptions options;
};
struct FuseSuggested {
  std::vector<fuse::Suggestion> suggestions;
  std::int64_t traces = 0, calls = 0;
  std::int64_t inferred = 0;  // traces that do not name their tensors
  std::int64_t measured = 0;  // device operations with a measured time
};
Result<FuseSuggested> suggest_fused(const FuseSuggestRequest& request);

}  // namespace opwright::jobs
