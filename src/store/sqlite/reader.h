// The asking side of a store. Opens it read-only; sees one consistent state. Whatever is handed out was verified:
// damage is an error, never another answer.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/ids.h"
#include "model/observed.h"
#include "model/op_config.h"
#include "store/sqlite/pack.h"
#include "store/sqlite/sequences.h"
#include "store/sqlite/sql.h"
#include "store/sqlite/verify.h"

namespace opwright::store {

struct OperationRow {
  std::string name;
  std::int64_t configurations = 0;
  std::int64_t calls = 0;      // a form whose trace does not count calls stands for one call a trace
  std::int64_t uncounted = 0;  // how many of the calls stand so
  std::int64_t sources = 0;
  std::int64_t raised = 0;  // how many of the calls raised
};

struct FormRow {
  FormId id;
  ConfigId configuration;
  FormKind kind = FormKind::kEra2;
  std::string op;
  std::string text;
  std::string error;  // one example of what its calls raised; "" none
};

struct OccurrenceRow {
  FormId form;
  std::string source, model, hf_model;
  std::string machine, machine_label;
  std::string trace_uid;
  std::string sweep_source_hash, config_hash;  // "" none
  std::string extra;
  std::int64_t count = kUncounted;
  std::int64_t raised = 0;  // how many of `count` raised
};

struct TraceRow {
  std::string uid, format, facts;
};

struct Totals {
  std::int64_t operations = 0, configurations = 0, forms = 0, sources = 0, machines = 0, traces = 0, bytes = 0;
  std::int64_t schema = 0;  // of the file; an older one is read as if it were ours
};

class Reader {
 public:
  // `identity` as for Writer::begin; "" reads whatever is there.
  static Result<Reader> open(const std::string& path, int wait_ms, const std::string& identity = "");

  Result<Totals> totals();
  Result<std::vector<OperationRow>> operations();
  Result<std::vector<std::string>> operation_names();
  // Configurations that have all `terms`, by id; all of them when there are none.
  Result<std::vector<ConfigId>> candidates(std::span<const std::uint64_t> terms);
  // Configurations whose key begins with these hex digits.
  Result<std::vector<ConfigId>> with_key(std::string_view hex);
  // Ordered by fingerprint, so that the first one does not depend on who was imported first.
  Result<std::vector<FormRow>> forms(ConfigId id);
  // Of these forms, in their order.
  Result<std::vector<OccurrenceRow>> occurrences(const std::vector<FormRow>& forms);
  Result<std::vector<TraceRow>> traces();
  // Newest first.
  Result<std::vector<SequenceRow>> sequences() { return read_sequences(database_, verifier_); }
  // The native trace of one of them, for format::NativeTrace::from_bytes.
  Result<std::string> trace_bytes(const SequenceRow& row) { return read_trace_bytes(database_, verifier_, row); }

 private:
  explicit Reader(Database database) : database_(std::move(database)) {}
  Status load_names();
  // Every row of a small table, verified.
  Status read_whole(Part part, const Verifier::Use& use);
  Result<std::vector<std::int64_t>> posting(std::uint64_t term);
  Result<const Unpacked*> opened_pack(std::int64_t id);

  Database database_;
  Verifier verifier_;
  Statement find_forms_, find_occurrences_, find_posting_, find_pack_;
  std::map<std::int64_t, Unpacked> packs_;                              // a few, last used
  std::unordered_map<std::int64_t, OccurrenceRow> sources_, machines_;  // the columns of one table each
  std::unordered_map<std::int64_t, TraceRow> traces_;
};

}  // namespace opwright::store
