// Runs and their results. A result is on disk when add() returns, whatever happens to the process afterwards.
//
// Threads: a ResultsWriter and a ResultsReader belong to one thread at a time. One process writes at a time, for the
// moment of an add(); readers never wait.
#pragma once

#include <functional>
#include <map>
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
  // Continues a run that was interrupted: sets its status back to running, and its facts to those of now ("": leaves
  // them).
  Status resume(std::string_view uid, std::string_view facts = "");
  Status add(std::string_view uid, const CaseRecord& record);  // of two results of one index the later stays
  Status end(std::string_view uid, std::string_view status, std::string_view ended);

 private:
  explicit ResultsWriter(Database database) : database_(std::move(database)) {}
  static Result<ResultsWriter> open_once(const std::string& path, int wait_ms);
  Status prepare();
  Status insert(const RunRecord& run);
  Result<std::int64_t> id_of(std::string_view uid);

  Database database_;
  int wait_ms_ = 0;
  std::uint64_t file_ = 0;  // inode: which file of that name this is
  Statement find_, begin_, add_, end_, facts_;
  std::string uid_;  // of the run that was asked for last, and its id
  std::int64_t id_ = 0;
};

class ResultsReader {
 public:
  static Result<ResultsReader> open(const std::string& path, int wait_ms);

  // The newest last. One that says it is running and whose process is gone is `interrupted` (run_life.h).
  Result<std::vector<RunRecord>> runs();
  // By uid, by the beginning of one, or "last", "last~1", … An error names near ones.
  Result<RunRecord> find_run(std::string_view name);
  Result<std::vector<std::int64_t>> done(std::string_view uid);            // indexes that have a result, ascending
  Result<std::map<Outcome, std::int64_t>> outcomes(std::string_view uid);  // how many results ended so
  // In the order of the plan. Streams: memory does not grow with the number of results.
  Status for_each(std::string_view uid, const std::function<Status(CaseRecord&&)>& use);

 private:
  explicit ResultsReader(Database database) : database_(std::move(database)) {}
  Database database_;
};

}  // namespace opwright::store
