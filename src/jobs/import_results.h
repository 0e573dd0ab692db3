// Results of other machines, or of this one again: what `results --export jsonl` wrote.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace opwright::jobs {

struct ResultsImport {
  std::string store;
  int wait_ms = 60'000;
  std::vector<std::string> files;
};

struct ImportedRun {
  std::string file, run;
  std::int64_t results = 0;  // in the file
  std::int64_t added = 0;    // the others were there already, and are not changed
};

// One run a file.
Result<std::vector<ImportedRun>> import_results(const ResultsImport& request);

}  // namespace opwright::jobs
