// The writing side of a store: one transaction that is either there whole or not at all.
//
// Threads: a Writer belongs to one thread, a Lookup to another; the Lookup sees the store as it was when the Writer
// began.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "model/ids.h"
#include "model/observed.h"
#include "model/op_config.h"
#include "store/sql.h"

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
};

struct SourceFacts {
  std::string text, path, hf_model, model;
};

class Writer {
 public:
  // Opens or creates the store and waits up to `wait_ms` for another writer to finish. `identity` names the versions of
  // keys and index terms that will be written; a store of other versions is refused.
  static Result<Writer> begin(const std::string& path, int wait_ms, const std::string& identity);
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
  Result<SourceId> source(const SourceFacts& facts);
  Result<MachineId> machine(std::string_view text, std::string_view label);
  Result<TraceId> trace(std::string_view uid, std::string_view format, std::string_view facts);
  Status commit();
  // Ends the transaction without a trace of it: what was not committed is undone, and a store that this Writer had
  // created goes away with it.
  void discard();

 private:
  explicit Writer(Database database) : database_(std::move(database)) {}
  static Result<Writer> begin_once(const std::string& path, int wait_ms, const std::string& identity);
  Status prepare();
  Status write_postings();
  Result<OperationId> operation(const std::string& name);
  Result<std::int64_t> intern(Statement& find, Statement& add, std::string_view name);

  Database database_;
  bool open_ = false;
  bool created_ = false;    // the file was not there before
  std::uint64_t file_ = 0;  // inode: which file of that name this is
  ConfigId next_configuration_;
  FormId next_form_;
  std::unordered_map<std::string, OperationId> operations_;
  std::vector<Posting> postings_;  // not written yet
  struct Statements {
    Statement add_configuration, add_pack, add_form, add_posting, add_occurrence, add_example;
    Statement find_operation, add_operation, find_source, add_source, find_machine, add_machine, find_trace, add_trace,
        change_trace;
  } statements_;
};

class Lookup {
 public:
  // Nothing when the store does not exist or is empty.
  static Result<std::optional<Lookup>> open(const std::string& path, int wait_ms);
  struct Form {
    FormId form;
    ConfigId configuration;
    std::int64_t unparsed;
    std::int64_t unknown_names;
    std::int64_t duplicate_keys;
  };
  Result<std::optional<Form>> form(const Hash128& fingerprint);
  Result<std::optional<ConfigId>> configuration(const ConfigKey& key);

 private:
  explicit Lookup(Database database) : database_(std::move(database)) {}
  Database database_;
  Statement find_form_, find_configuration_;
};

}  // namespace opwright::store
