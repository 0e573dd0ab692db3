// The Writer of a file of SQLite.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "model/ids.h"
#include "model/observed.h"
#include "model/op_config.h"
#include "store/encoding/grouped.h"
#include "store/sqlite/blocks.h"
#include "store/sqlite/fact_index.h"
#include "store/sqlite/sequences.h"
#include "store/sqlite/sql.h"
#include "store/sqlite/tally.h"
#include "store/sqlite/verify.h"
#include "store/writer.h"

namespace opwright::store::sqlite {

class Writer final : public store::Writer {
 public:
  // Opens or creates the store and waits up to `wait_ms` for another writer to finish. `identity` names the versions of
  // keys and index terms that will be written; a store of other versions is refused.
  static Result<Writer> begin(const std::string& path, int wait_ms, const std::string& identity,
                              Durability durability = Durability::kConsistent);
  Writer(Writer&& other) noexcept;
  ~Writer() override;  // rolls back what was not committed

  ConfigId next_configuration() const override { return next_configuration_; }
  FormId next_form() const override { return next_form_; }
  Status write(const Batch& batch) override;
  Result<std::vector<ConfigId>> without_records() override { return blocks_.without_records(database_); }
  Status add_occurrences(std::span<const NewOccurrence> occurrences) override;
  Status add_examples(std::span<const RaisedExample> examples) override;
  Status lower_kinds(std::span<const FormId> forms, FormKind kind) override;
  Result<std::vector<SourceId>> sources(std::span<const NewSource> sources) override;
  Result<std::vector<MachineId>> machines(std::span<const NewMachine> machines) override;
  Result<std::vector<TraceId>> traces(std::span<const NewTrace> traces) override;
  Result<bool> forget_sequence(const std::string& uid) override;
  Status commit() override;
  void discard() override;

 private:
  explicit Writer(Database database) : database_(std::move(database)) {}
  static Result<Writer> begin_once(const std::string& path, int wait_ms, const std::string& identity,
                                   Durability durability);
  Status prepare();
  Status load_names();
  Status name_identity(const std::string& identity);
  Status write_forms(std::span<const NewForm> forms);
  Status write_postings();
  Status replace_record(const NewRecord& record);
  Status join_occurrence(const NewOccurrence& row);
  Status add_some(std::span<const NewOccurrence* const> occurrences);
  // Leaves out what the store has already, of the forms of one group.
  Status leave_out_known(std::int64_t group, std::vector<const NewOccurrence*>& rows);
  Result<OperationId> operation(const std::string& name);
  Result<ConfigId> configuration_of(FormId form);
  Result<SourceId> put_source(const NewSource& source);
  Result<MachineId> put_machine(const NewMachine& machine);
  Result<TraceId> put_trace(const NewTrace& told);

  Database database_;
  bool open_ = false;
  bool created_ = false;    // the file was not there before
  std::uint64_t file_ = 0;  // inode: which file of that name this is
  ConfigId next_configuration_;
  FormId next_form_;
  // The small tables, read and verified when the transaction begins: names are found here, not through an index.
  using Names = std::unordered_map<std::string, std::int64_t>;
  Names operations_, sources_, machines_;
  struct Trace {
    std::int64_t id;
    std::string format, facts;
    std::int64_t sum;
  };
  std::unordered_map<std::string, Trace> traces_;
  std::int64_t next_pack_ = 0, next_operation_ = 0, next_source_ = 0, next_machine_ = 0, next_trace_ = 0;
  Grouped<std::uint64_t> postings_;  // not written yet, by term
  SequenceWriter sequences_;
  FactWriter facts_;
  BlockWriter blocks_;
  FormId first_form_;                   // that is new in this transaction
  std::vector<ConfigId> form_configs_;  // of the new forms, from that one on
  Tally tally_;
  Verifier verifier_;
  struct Statements {
    Statement add_configuration, add_pack, add_form, add_posting, add_occurrence, find_occurrence, find_occurrences,
        change_occurrence;
    Statement find_form, find_first_form, change_error, change_kind, add_operation, add_source, add_machine, add_trace,
        change_trace;
  } statements_;
};

}  // namespace opwright::store::sqlite
