// Master files as the existing tools write and read them.
#pragma once

#include <string>
#include <vector>

#include "normalize/foreign_hash.h"
#include "select/selected.h"

namespace opwright::jobs {

struct ExportReport {
  std::int64_t configurations = 0;                      // records written
  std::map<std::string, std::int64_t> not_expressible;  // reason -> count
  std::map<std::string, std::int64_t> left_out;         // by rule: words -> count
  std::int64_t without_board = 0;                       // records of calls on a board that the trace does not tell
};

// Era 2: sorted keys, two-space indent. Forms keep the hash their file had; others get that of the same call in a file
// of the store, else one of `generation`.
Result<std::string> master_era2(const std::vector<select::Selected>& selected,
                                const std::vector<store::TraceRow>& traces, normalize::Generation generation,
                                ExportReport& report);
// Era 1 (1c where a machine is known, else 1b), in the order of the forms' own keys.
Result<std::string> master_era1(const std::vector<select::Selected>& selected,
                                const std::vector<store::TraceRow>& traces, ExportReport& report);

}  // namespace opwright::jobs
