// The Writer of a store on a server: one transaction. Rows go in batches through COPY, and by arrays where they may
// meet rows that are there. Writers of configurations hand on one lock; results do not wait for it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "store/encoding/grouped.h"
#include "store/postgresql/blocks.h"
#include "store/postgresql/connection.h"
#include "store/writer.h"

namespace opwright::store::postgresql {

class Writer final : public store::Writer {
 public:
  static Result<std::unique_ptr<Writer>> begin(const Address& address, int wait_ms, const std::string& identity);
  ~Writer() override;

  ConfigId next_configuration() const override { return next_configuration_; }
  FormId next_form() const override { return next_form_; }
  Status write(const Batch& batch) override;
  Result<std::vector<ConfigId>> without_records() override;
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
  explicit Writer(Connection connection) : connection_(std::move(connection)) {}
  Status load(const std::string& identity);
  Result<std::int64_t> operation(const std::string& name);
  Status write_forms(std::span<const NewForm> forms);
  Status replace_records(std::span<const NewRecord> records);
  Status write_piece(const NewPiece& piece);
  Status begin_sequence(const Sequence& sequence);
  Status put_sequence(const SequenceRow& row);
  Status remove_sequence(const std::string& uid);
  Status add_facts(std::span<const Fact> facts, std::span<const Word> words);
  Status write_lists();
  Status unite_seen();
  // What was changed of occurrences: an answer with their form, source and machine.
  Status see(const Rows& changed);
  Status add_some(std::span<const NewOccurrence> rows);
  Status find_committed();

  Connection connection_;
  bool open_ = false;
  std::int64_t transaction_ = 0;
  ConfigId next_configuration_;
  FormId next_form_, first_form_;
  std::vector<ConfigId> form_configs_;  // of new forms
  using Names = std::unordered_map<std::string, std::int64_t>;
  Names operations_, sources_, machines_;
  struct Trace {
    std::int64_t id;
    std::string format, facts;
  };
  std::unordered_map<std::string, Trace> traces_;
  std::unordered_map<std::string, SequenceRow> sequences_;  // by uid
  std::optional<SequenceRow> coming_;                       // nothing: what comes is there already
  std::int64_t next_pack_ = 0, next_operation_ = 0, next_source_ = 0, next_machine_ = 0, next_trace_ = 0,
               next_sequence_ = 0;
  struct Number {
    std::uint64_t kind;
    std::int64_t value;
    friend auto operator<=>(const Number&, const Number&) = default;
  };
  Grouped<std::uint64_t> postings_;  // not written yet, by term
  Grouped<Number> facts_;
  std::map<Number, std::vector<std::int64_t>> seen_;
  std::unordered_set<std::uint64_t> words_;  // that were written, by kind and value
  BlockWriter blocks_;
  CopyRows new_configurations_, new_packs_, new_forms_, new_postings_, new_facts_, new_pieces_;
};

}  // namespace opwright::store::postgresql
