// One command of `trace`, what became of it, and how that is told.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/ingest.h"
#include "cli/trace_summary.h"
#include "launch/program.h"

namespace opwright::cli {

struct TracedItem {
  std::vector<std::string> command;
  std::string shown;
};

// What became of one command.
struct TracedOutcome {
  launch::Ended ended;
  std::string folder;
  TraceSummary summary;
  std::optional<ImportReport> imported;
  std::vector<std::string> side_files;
  std::vector<std::string> not_done;                     // what should have followed the program, and why it did not
  bool apart = false;  // calls that were not imported because their test or program failed
  bool kept = false;
};

// The summary to standard output, what was lost or not done to standard error as well.
void report_traced(const TracedItem& item, const TracedOutcome& outcome, CommandEnv& env);

}  // namespace opwright::cli
