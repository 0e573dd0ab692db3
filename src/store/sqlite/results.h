// The ResultsWriter and ResultsReader of a file of SQLite. One process writes at a time, for the moment of an add().
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "store/results.h"
#include "store/sqlite/sql.h"
#include "store/sqlite/tally.h"
#include "store/sqlite/verify.h"

namespace opwright::store::sqlite {

class ResultsWriter final : public store::ResultsWriter {
 public:
  // Opens the store, or creates it. Waits up to `wait_ms` for another writer, here and at each add().
  static Result<ResultsWriter> open(const std::string& path, int wait_ms, Durability durability = Durability::kSoon);

  Status begin(const RunRecord& run) override;
  Status resume(std::string_view uid, std::string_view facts = "") override;
  using store::ResultsWriter::add;
  Status add(std::string_view uid, std::span<const CaseRecord> records) override;
  Status end(std::string_view uid, std::string_view status, std::string_view ended) override;

 private:
  explicit ResultsWriter(Database database) : database_(std::move(database)) {}
  static Result<ResultsWriter> open_once(const std::string& path, int wait_ms, Durability durability);
  Status prepare();
  Status insert(const RunRecord& run);
  Status insert(std::int64_t run_id, const CaseRecord& record);
  // "" keeps the facts as they are.
  Status change(std::string_view uid, std::string_view status, std::string_view ended, std::string_view facts);
  // One transaction: what `work` does is there with its tally, or none of it.
  enum class Weight { kResult, kRun };  // a run that began or ended is worth waiting for the disk
  template <class Work>
  Status in_transaction(Weight weight, const Work& work);
  Result<std::int64_t> id_of(std::string_view uid);

  Database database_;
  Durability durability_ = Durability::kSoon;
  bool waits_ = false;                             // the database's commits wait for the disk
  std::chrono::steady_clock::time_point on_disk_;  // when the disk had everything
  Tally tally_;
  Verifier verifier_;
  int wait_ms_ = 0;
  std::uint64_t file_ = 0;  // inode: which file of that name this is
  Statement find_, begin_, find_result_, add_, end_;
  std::string uid_;  // of the run that was asked for last, and its id
  std::int64_t id_ = 0;
};

class ResultsReader final : public store::ResultsReader {
 public:
  static Result<ResultsReader> open(const std::string& path, int wait_ms);

  Result<std::vector<RunRecord>> runs() override;
  Result<std::vector<std::int64_t>> done(std::string_view uid) override;
  Result<std::map<Outcome, std::int64_t>> outcomes(std::string_view uid) override;
  Status for_each(std::string_view uid, const std::function<Status(CaseRecord&&)>& use) override;
  std::string name() const override { return database_.path(); }

 private:
  explicit ResultsReader(Database database) : database_(std::move(database)) {}
  // In one state of the store, which is let go afterwards: a reader beside a long run does not make its log grow.
  template <class Work>
  Status in_one_state(const Work& work);
  // Of a run, each verified; columns as in the part.
  Status read_results(std::string_view uid, const Verifier::Use& use);

  Database database_;
  Verifier verifier_;
  int reading_ = 0;  // how deep in in_one_state()
};

}  // namespace opwright::store::sqlite
