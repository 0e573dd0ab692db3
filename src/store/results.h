// Runs and their results. A result is on disk when add() returns, whatever happens to the process afterwards.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/case_record.h"
#include "store/sql.h"

namespace opwright::store {

class ResultsWriter {
 public:
  // Opens the store, or creates it. Waits up to `wait_ms` for another writer, here and at each add().
  static Result<ResultsWriter> open(const std::string& path, int wait_ms);

  // A new run. Its uid must be new.
  Status begin(const RunRecord& run);
  // Continues a run that was interrupted: sets its status back to running.
  Status resume(std::string_view uid);
  Status add(std::string_view uid, const CaseRecord& record);  // of two results of one index the later stays
  Status end(std::string_view uid, std::string_view status, std::string_view ended);

 private:
  explicit ResultsWriter(Database database) : database_(std::move(database)) {}
  Database database_;
};

class ResultsReader {
 public:
  static Result<ResultsReader> open(const std::string& path, int wait_ms);

  Result<std::vector<RunRecord>> runs();  // the newest last
  // By uid, by the beginning of one, or "last", "last~1", … An error names near ones.
  Result<RunRecord> find_run(std::string_view name);
  Result<std::vector<std::int64_t>> done(std::string_view uid);  // indexes that have a result, ascending
  // In the order of the plan. Streams: memory does not grow with the number of results.
  Status for_each(std::string_view uid, const std::function<Status(CaseRecord&&)>& use);

 private:
  explicit ResultsReader(Database database) : database_(std::move(database)) {}
  Database database_;
};

}  // namespace opwright::store
