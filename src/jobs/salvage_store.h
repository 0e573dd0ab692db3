// A store that may be damaged: checked to the bottom, and saved into a new one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "jobs/ingest.h"
#include "store/sqlite_door.h"

namespace opwright::jobs {

// What the store alone cannot know: a text means the configuration under whose key it is kept, and the index has the
// terms of each. Says how many configurations were looked at.
Result<std::int64_t> check_meaning(const std::string& file, int wait_ms, store::sqlite::Inspection& inspection);

struct SalvageOptions {
  std::string store;
  std::string target;  // a new store: nothing may lie there
  int wait_ms = 60'000;
};

struct SalvageReport {
  ImportReport imported;
  std::int64_t runs = 0, results = 0;
  std::vector<std::string> lost;  // what could not be saved, or was not sound; each once
};

Result<SalvageReport> salvage_store(const SalvageOptions& options);

}  // namespace opwright::jobs
