// Runs and their results. A result is in the store when add() returns, whatever happens to the process afterwards; what
// the disk has when the power fails is the writer's Durability.
//
// Threads: a ResultsWriter and a ResultsReader belong to one thread at a time. Readers never wait.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/case_record.h"
#include "store/rows.h"

namespace opwright::store {

// Durability::kSoon: results are on the disk this long after add(), or when the run ends.
inline constexpr std::chrono::milliseconds kSoonest{250};

class ResultsWriter {
 public:
  virtual ~ResultsWriter() = default;

  // A new run. Its uid must be new.
  virtual Status begin(const RunRecord& run) = 0;
  // Continues a run that was interrupted: sets its status back to running, and its facts to those of now ("": leaves
  // them).
  virtual Status resume(std::string_view uid, std::string_view facts = "") = 0;
  // All of them or none; of two results of one index the later stays.
  virtual Status add(std::string_view uid, std::span<const CaseRecord> records) = 0;
  Status add(std::string_view uid, const CaseRecord& record) { return add(uid, std::span(&record, 1)); }
  virtual Status end(std::string_view uid, std::string_view status, std::string_view ended) = 0;
};

class ResultsReader {
 public:
  virtual ~ResultsReader() = default;

  // The newest last. One that says it is running and whose process is gone is `interrupted` (run_life.h).
  virtual Result<std::vector<RunRecord>> runs() = 0;
  virtual Result<std::vector<std::int64_t>> done(std::string_view uid) = 0;  // indexes that have a result, ascending
  virtual Result<std::map<Outcome, std::int64_t>> outcomes(std::string_view uid) = 0;  // how many results ended so
  // In the order of the plan. Streams: memory does not grow with the number of results.
  virtual Status for_each(std::string_view uid, const std::function<Status(CaseRecord&&)>& use) = 0;
  // The store, as messages name it.
  virtual std::string name() const = 0;

  // By uid, by the beginning of one, or "last", "last~1", … An error names near ones.
  Result<RunRecord> find_run(std::string_view name);
};

// A run that the store `name` does not have.
Error no_run(const std::string& name, std::string_view uid);

}  // namespace opwright::store
