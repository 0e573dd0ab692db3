// The writing side of a store: one transaction that is either there whole or not at all.
//
// Threads: a Writer belongs to one thread, a Lookup (lookup.h) to another; the Lookup sees the store as it was when the
// Writer began.
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
#include "store/sqlite/sequences.h"
#include "store/sqlite/sql.h"
#include "store/sqlite/tally.h"
#include "store/sqlite/verify.h"

namespace opwright::store {

struct NewConfiguration {
  ConfigId id;
  std::string op;
  Convention convention;
  ConfigKey key;
};

struct NewForm {
  FormId id;
  ConfigId configuration;
  Hash128 fingerprint;
  FormKind kind;
  std::int64_t unparsed;        // texts inside that no grammar reads
  std::int64_t unknown_names;   // dtypes, layouts, … outside the known sets
  std::int64_t duplicate_keys;  // keys that stood twice in an object
  std::string op;
  std::string text;
};

struct Posting {
  std::uint64_t term;
  ConfigId configuration;
};

struct NewOccurrence {
  FormId form;
  SourceId source;
  MachineId machine;
  TraceId trace;
  std::string_view sweep_source_hash, config_hash;  // "" none
  std::int64_t count;                               // kUncounted: not known
  std::string_view extra;
  std::int64_t raised = 0;  // how many of `count` raised
};

struct RaisedExample {
  FormId form;
  std::string_view error;
};

struct Batch {
  std::vector<NewConfiguration> configurations;
  std::vector<NewForm> forms;
  std::vector<Posting> postings;
  std::vector<NewPiece> pieces;
};

struct SourceFacts {
  std::string text, path, hf_model, model;
};

class Writer {
 public:
  // Opens or creates the store and waits up to `wait_ms` for another writer to finish. `identity` names the versions of
  // keys and index terms that will be written; a store of other versions is refused.
  static Result<Writer> begin(const std::string& path, int wait_ms, const std::string& identity,
                              Durability durability = Durability::kConsistent);
  Writer(Writer&& other) noexcept;
  ~Writer();  // rolls back what was not committed

  // The first free ids; they are ours as long as the transaction runs.
  ConfigId next_configuration() const { return next_configuration_; }
  FormId next_form() const { return next_form_; }

  Status write(const Batch& batch);
  // Counts of the same occurrence are never added: the larger one stays, so that a second import changes nothing.
  Status add_occurrences(const std::vector<NewOccurrence>& occurrences);
  // Of two examples of one form the larger text stays, whoever came first.
  Status add_examples(const std::vector<RaisedExample>& examples);
  // One text under two kinds is one form: the smaller kind stays, whoever came first.
  Status lower_kinds(const std::vector<FormId>& forms, FormKind kind);
  Result<SourceId> source(const SourceFacts& facts);
  Result<MachineId> machine(std::string_view text, std::string_view label);
  Result<TraceId> trace(std::string_view uid, std::string_view format, std::string_view facts);
  // The sequence of a trace goes, its configurations stay. False when there is none of this uid.
  Result<bool> forget_sequence(const std::string& uid);
  Status commit();
  // Ends the transaction without a trace of it: what was not committed is undone, and a store that this Writer had
  // created goes away with it.
  void discard();

 private:
  explicit Writer(Database database) : database_(std::move(database)) {}
  static Result<Writer> begin_once(const std::string& path, int wait_ms, const std::string& identity,
                                   Durability durability);
  Status prepare();
  Status load_names();
  Status name_identity(const std::string& identity);
  Status write_forms(std::span<const NewForm> forms);
  Status write_postings();
  Status join_occurrence(const NewOccurrence& row);
  Result<OperationId> operation(const std::string& name);

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
  std::vector<Posting> postings_;  // not written yet
  SequenceWriter sequences_;
  Tally tally_;
  Verifier verifier_;
  struct Statements {
    Statement add_configuration, add_pack, add_form, add_posting, add_occurrence, find_occurrence, change_occurrence;
    Statement find_form, change_error, change_kind, add_operation, add_source, add_machine, add_trace, change_trace;
  } statements_;
};

}  // namespace opwright::store
