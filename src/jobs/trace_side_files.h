// The trace of a run in the formats that existing tools read, beside the store.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace opwright::jobs {

struct SideFiles {
  std::string per_op;  // folder for per-op files; "" none. Several processes: one folder each in it
  std::string jsonl;   // file that op JSONL is appended to; "" none
};

// Returns what was written and what the formats could not hold, one line each.
Result<std::vector<std::string>> write_side_files(const std::vector<std::string>& traces, const SideFiles& wanted);

}  // namespace opwright::jobs
