// The ResultsWriter and ResultsReader of a store on a server. A result is one statement: any number of processes write
// at once, and nobody waits for an import. Whoever loses the connection goes on with a new one, for as long as he was
// told to wait; a result that comes again takes the place of itself.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/postgresql/connection.h"
#include "store/results.h"

namespace opwright::store::postgresql {

class ResultsWriter final : public store::ResultsWriter {
 public:
  static Result<std::unique_ptr<store::ResultsWriter>> open(const Address& address, int wait_ms, Durability durability);

  Status begin(const RunRecord& run) override;
  Status resume(std::string_view uid, std::string_view facts) override;
  using store::ResultsWriter::add;
  Status add(std::string_view uid, std::span<const CaseRecord> records) override;
  Status end(std::string_view uid, std::string_view status, std::string_view ended) override;

 private:
  ResultsWriter(Connection connection, Durability durability)
      : connection_(std::move(connection)), durability_(durability) {}
  // Does what may be done twice; again with a new connection when the old one is lost.
  template <class Work>
  Status again_when_lost(const Work& work);
  enum class Weight { kResult, kRun };  // a run that began or ended is worth waiting for the disk
  Status wait_for_disk(Weight weight);
  Result<std::int64_t> id_of(std::string_view uid);
  Status change(std::string_view uid, std::string_view status, std::string_view ended, std::string_view facts);

  Connection connection_;
  Durability durability_;
  std::optional<bool> waits_;  // the server's commits of this connection wait for its disk; nothing: not said yet
  std::chrono::steady_clock::time_point on_disk_;      // when the disk had everything
  std::unordered_map<std::string, std::int64_t> ids_;  // of runs
};

class ResultsReader final : public store::ResultsReader {
 public:
  static Result<std::unique_ptr<store::ResultsReader>> open(const Address& address, int wait_ms);

  Result<std::vector<RunRecord>> runs() override;
  Result<std::vector<std::int64_t>> done(std::string_view uid) override;
  Result<std::map<Outcome, std::int64_t>> outcomes(std::string_view uid) override;
  Status for_each(std::string_view uid, const std::function<Status(CaseRecord&&)>& use) override;
  std::string name() const override { return connection_.name(); }

 private:
  explicit ResultsReader(Connection connection) : connection_(std::move(connection)) {}
  // In one state of the store, which is let go afterwards.
  template <class Work>
  Status in_one_state(const Work& work);
  Result<std::int64_t> id_of(std::string_view uid);

  Connection connection_;
  int reading_ = 0;  // how deep in in_one_state()
};

}  // namespace opwright::store::postgresql
