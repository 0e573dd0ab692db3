// A program run with recording on, and what follows it: its trace counted, imported, written in other formats, removed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "jobs/ingest.h"
#include "jobs/trace_side_files.h"
#include "jobs/trace_summary.h"
#include "launch/mock.h"
#include "launch/program.h"
#include "launch/tracing.h"

namespace opwright::jobs {

struct TracedItem {
  std::vector<std::string> command;
  std::string shown;  // secrets masked
};

// What shall be run: a program with its arguments, tests (each with pytest or python), lines of a file (each by a
// shell).
Result<std::vector<TracedItem>> traced_items(const std::vector<std::string>& program,
                                             const std::vector<std::string>& tests, const std::string& list);

struct TraceRequest {
  launch::TraceOptions record;  // folder and uid are set for each item
  std::string folder = "opwright-traces";
  bool keep = false;               // the trace files, also where all of them is in the store
  std::string mock;                // a board; "": what the environment has
  bool stub_device_trace = false;  // on a mock board
  IngestOptions import;            // its store, its filter, what it reads and keeps
  SideFiles side_files;            // in a batch each item has a folder of its own for per-op files
};

// What became of one item.
struct TracedOutcome {
  launch::Ended ended;
  std::string folder;
  TraceSummary summary;
  std::optional<ImportReport> imported;
  std::vector<std::string> side_files;
  std::vector<std::string> not_done;                     // what should have followed the program, and why it did not
  std::optional<launch::DeviceTraceCalls> device_trace;  // on a mock board
  bool apart = false;  // calls that were not imported because their test or program failed
  bool kept = false;   // the trace files
};

// Told when the program starts and when it has ended; may be empty.
struct ProgramWatcher {
  std::function<void()> starts, ended;
};

// Runs the item. `number` counts the items of a batch from 1 on; 0: it is alone. An error: it could not be run.
Result<TracedOutcome> run_traced(const TracedItem& item, std::size_t number, const TraceRequest& request,
                                 const ProgramWatcher& watcher);

// Everything that follows. What it meets goes into `not_done`; it changes nothing of how the program ended.
void finish_traced(std::size_t number, const TraceRequest& request, TracedOutcome& outcome);

// Whether the program ended with 1 because tests failed: so does a Python that nobody caught an exception of, so it
// must be known that tests were run.
bool only_tests_failed(const TracedItem& item, const TracedOutcome& outcome);

}  // namespace opwright::jobs
