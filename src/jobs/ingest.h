// Trace -> configurations -> store: the one way in, for `import`, `trace` and merged stores alike.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "format/trace_sink.h"
#include "normalize/op_filter.h"
#include "store/rows.h"

namespace opwright::jobs {

struct ImportReport {
  std::size_t files = 0;
  std::size_t bytes = 0;            // after decompression
  std::int64_t calls = 0;           // kept calls; a record without a count stands for one
  std::int64_t uncounted = 0;       // how many of them stand so
  std::int64_t raised = 0;          // how many of them raised
  std::int64_t records = 0;         // configurations as the input lists them, after filtering
  std::int64_t forms = 0;           // distinct spellings of configurations in the input
  std::int64_t configurations = 0;  // distinct in the input, after filtering
  std::int64_t added = 0, known = 0;
  std::int64_t traces_kept = 0, calls_kept = 0;    // in their order; 0 where that is not wanted, or the input has none
  std::map<std::string, std::int64_t> operations;  // kept: name -> configurations
  std::map<std::string, std::int64_t> filtered;    // name -> calls, left out by the operation lists
  std::map<std::string, std::int64_t> not_listed;  // the part of them that is no operation we know
  struct Lost {
    std::int64_t count = 0;
    std::string example;
  };
  std::map<std::string, Lost> losses;
  std::map<std::string, std::int64_t> left_out;  // by rule: return values, side files, …
  std::int64_t unparsed_left = 0;
  std::string unparsed_example;
  std::int64_t lost() const;       // parts of the input, of all kinds
  bool written = false;            // it is in the store: no dry run, not refused
  bool refused = false;            // strict, and something was lost: nothing was written
  bool stopped = false;            // the caller asked to stop: it counts what was read so far, nothing was written
  std::int64_t unknown_names = 0;  // dtypes, layouts, … outside the known sets: kept as spelled
  std::string unknown_example;
};

struct IngestOptions {
  std::string store;
  bool dry_run = false;
  bool strict = false;
  bool keep_calls = true;  // in their order, besides the configurations
  int wait_ms = 60'000;
  normalize::FilterOptions filter;
  format::ReadOptions read;
  store::Durability durability = store::Durability::kConsistent;
  // Set: a store among the paths is read as far as it is sound, and this is told what is not.
  std::function<void(const std::string& what)> salvage;
  // Both are called at most every `between`, on the thread of the caller, and may be empty.
  std::function<void(const ImportReport& so_far)> progress;
  std::chrono::milliseconds between{200};
  std::function<bool()> stop;  // true: the import ends, and nothing of it is written
};

// Reads `paths` into the store in one transaction: all of it is there afterwards, or nothing.
// A path may be an opwright store: merging stores is importing one into the other.
Result<ImportReport> ingest(const std::vector<std::string>& paths, const IngestOptions& options);

}  // namespace opwright::jobs
