// Master files as the existing tools write and read them.
#pragma once

#include <string>
#include <vector>

#include "cli/query.h"

namespace opwright::cli {

struct ExportReport {
  std::int64_t configurations = 0;                      // records written
  std::map<std::string, std::int64_t> not_expressible;  // reason -> count
  std::map<std::string, std::int64_t> left_out;         // by rule: words -> count
};

// Era 2: sorted keys, two-space indent. Forms keep the hash their file had; others get one of the newest generation.
Result<std::string> master_era2(const std::vector<Selected>& selected, const std::vector<store::TraceRow>& traces,
                                ExportReport& report);
// Era 1 (1c where a machine is known, else 1b), in the order of the forms' own keys.
Result<std::string> master_era1(const std::vector<Selected>& selected, const std::vector<store::TraceRow>& traces,
                                ExportReport& report);

}  // namespace opwright::cli
