// The Reader of a file of SQLite, which it opens read-only.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/encoding/pack.h"
#include "store/narrow.h"
#include "store/reader.h"
#include "store/sqlite/blocks.h"
#include "store/sqlite/fact_index.h"
#include "store/sqlite/sequences.h"
#include "store/sqlite/sql.h"
#include "store/sqlite/verify.h"

namespace opwright::store::sqlite {

class Reader final : public store::Reader, private Index {
 public:
  // `identity` as for Writer::begin; "" reads whatever is there.
  static Result<Reader> open(const std::string& path, int wait_ms, const std::string& identity = "");

  Result<Totals> totals() override;
  Result<std::vector<OperationRow>> operations() override;
  Result<std::vector<std::string>> operation_names() override;
  Result<Candidates> narrow(std::span<const Way> ways) override { return store::narrow(*this, ways); }
  Result<std::vector<SourceRow>> sources() override;
  Result<std::vector<MachineRow>> machines() override;
  Result<std::vector<Word>> words(std::span<const std::uint64_t> kinds) override;
  Result<std::vector<ConfigId>> with_key(std::string_view hex) override;
  Status cards(std::span<const ConfigId> ids, bool with_parts, const std::function<Status(const Card&)>& use) override;
  using store::Reader::forms;
  Result<std::vector<FormRow>> forms(std::span<const ConfigId> ids) override;
  Result<std::vector<OccurrenceRow>> occurrences(std::span<const FormRow> forms) override;
  Result<std::vector<TraceRow>> traces() override;
  Result<std::vector<SequenceRow>> sequences() override { return read_sequences(database_, verifier_); }
  Result<std::string> trace_bytes(const SequenceRow& row) override {
    return read_trace_bytes(database_, verifier_, row);
  }

 private:
  explicit Reader(Database database) : database_(std::move(database)) {}
  Status load_names();
  // Every row of a small table, verified.
  Status read_whole(Part part, const Verifier::Use& use);
  Result<std::vector<std::int64_t>> all() override;
  Result<std::vector<std::int64_t>> with_term(std::uint64_t term) override;
  Status with_facts(std::span<const Range> ranges, std::vector<std::int64_t>& ids) override {
    return facts_.find(database_, verifier_, ranges, ids);
  }
  std::int64_t first_with_facts() const override { return facts_.first(); }
  Status append_forms(ConfigId id, std::vector<FormRow>& rows);
  Result<const Unpacked*> opened_pack(std::int64_t id);

  Database database_;
  Verifier verifier_;
  FactReader facts_;
  BlockReader blocks_;
  Statement find_forms_, find_occurrences_, find_posting_, find_pack_;
  std::map<std::int64_t, Unpacked> packs_;                              // a few, last used
  std::unordered_map<std::int64_t, OccurrenceRow> sources_, machines_;  // the columns of one table each
  std::unordered_map<std::int64_t, TraceRow> traces_;
  std::unordered_map<std::int64_t, std::string> operations_;  // read when the first card is asked for
};

}  // namespace opwright::store::sqlite
