// The Reader of a store on a server: one read-only transaction, which sees one state. What many configurations need is
// fetched for all of them together.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/encoding/pack.h"
#include "store/narrow.h"
#include "store/postgresql/blocks.h"
#include "store/postgresql/connection.h"
#include "store/postgresql/sequences.h"
#include "store/reader.h"

namespace opwright::store::postgresql {

class Reader final : public store::Reader, private Index {
 public:
  static Result<std::unique_ptr<store::Reader>> open(const Address& address, int wait_ms, const std::string& identity);

  Result<Totals> totals() override;
  Result<std::vector<OperationRow>> operations() override;
  Result<std::vector<std::string>> operation_names() override;
  Result<Candidates> narrow(std::span<const Way> ways) override;
  Result<std::vector<SourceRow>> sources() override;
  Result<std::vector<MachineRow>> machines() override;
  Result<std::vector<Word>> words(std::span<const std::uint64_t> kinds) override;
  Result<std::vector<ConfigId>> with_key(std::string_view hex) override;
  Status cards(std::span<const ConfigId> ids, bool with_parts, const std::function<Status(const Card&)>& use) override;
  using store::Reader::forms;
  Result<std::vector<FormRow>> forms(std::span<const ConfigId> ids) override;
  Result<std::vector<OccurrenceRow>> occurrences(std::span<const FormRow> forms) override;
  Result<std::vector<TraceRow>> traces() override;
  Result<std::vector<SequenceRow>> sequences() override { return read_sequences(connection_); }
  Result<std::string> trace_bytes(const SequenceRow& row) override { return read_trace_bytes(connection_, row); }

 private:
  explicit Reader(Connection connection) : connection_(std::move(connection)) {}
  // The small tables, each read when it is first asked for.
  Status load_operations();
  Status load_sources();
  Status load_machines();
  Status load_traces();
  Status load_packs(const Rows& forms, int pack_column);
  Status append_forms(std::span<const ConfigId> ids, std::vector<FormRow>& rows);
  Status append_occurrences(std::span<const FormRow> forms, std::vector<OccurrenceRow>& rows);
  Error damaged(std::string_view what) const;

  Result<std::vector<std::int64_t>> all() override;
  Result<std::vector<std::int64_t>> with_term(std::uint64_t term) override;
  Status with_facts(std::span<const Range> ranges, std::vector<std::int64_t>& ids) override;
  std::int64_t first_with_facts() const override { return 0; }  // all have them: no schema was without

  Connection connection_;
  BlockReader blocks_;
  std::map<std::int64_t, Unpacked> packs_;  // of the forms that were asked for last
  std::unordered_map<std::int64_t, std::string> operations_;
  std::unordered_map<std::int64_t, OccurrenceRow> sources_, machines_;  // the columns of one table each
  std::unordered_map<std::int64_t, TraceRow> traces_;
  std::unordered_map<std::uint64_t, std::vector<std::int64_t>> terms_;  // fetched together, of one question
  bool traces_loaded_ = false;
};

}  // namespace opwright::store::postgresql
