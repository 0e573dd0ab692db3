#include "store/writer.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "base/json.h"
#include "base/json_write.h"
#include "store/pack.h"
#include "store/posting_list.h"
#include "store/schema.h"

namespace opwright::store {
namespace {

std::uint64_t file_number(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

constexpr std::size_t kPostingsHeld = 1 << 17;  // sorted together, yet written while the parser goes on

std::string_view bytes_of(const ConfigKey& key) { return {reinterpret_cast<const char*>(key.data()), key.size()}; }

struct FingerprintBytes {
  char bytes[16];
  explicit FingerprintBytes(const Hash128& hash) {
    std::memcpy(bytes, &hash.high, 8);
    std::memcpy(bytes + 8, &hash.low, 8);
  }
  std::string_view view() const { return {bytes, sizeof bytes}; }
};

// What two files say about one trace is united; of two answers to one question the smaller text stays: the result does
// not depend on the order of imports.
std::string joined_facts(std::string_view a, std::string_view b) {
  std::map<std::string, std::string> facts;
  json::Document document;
  for (const std::string_view text : {a, b}) {
    const auto root = document.parse(text);
    if (!root || !(*root)->is(json::Kind::kObject)) continue;
    for (std::uint32_t i = 0; i < (*root)->count; ++i) {
      const auto [entry, added] = facts.try_emplace(std::string((*root)->fields[i].key), (*root)->fields[i].value.text);
      if (!added) entry->second = std::min<std::string>(entry->second, std::string((*root)->fields[i].value.text));
    }
  }
  std::string joined = "{";
  for (const auto& [name, value] : facts) {
    if (joined.size() > 1) joined += ", ";
    json::append_quoted(joined, name);
    joined += ": ";
    json::append_quoted(joined, value);
  }
  return joined + "}";
}

void bind_optional(Statement& statement, int index, std::string_view text) {
  if (text.empty())
    statement.bind_null(index);
  else
    statement.bind(index, text);
}

}  // namespace

Result<Writer> Writer::begin(const std::string& path, int wait_ms, const std::string& identity) {
  while (true) {
    OPWRIGHT_TRY_ASSIGN(Writer writer, begin_once(path, wait_ms, identity));
    // Another process may have discarded the file it had created while we waited for its lock.
    if (file_number(path) == writer.file_) return writer;
    writer.open_ = false;
  }
}

Result<Writer> Writer::begin_once(const std::string& path, int wait_ms, const std::string& identity) {
  const bool existed = file_number(path) != 0;
  OPWRIGHT_TRY_ASSIGN(Database database, Database::open(path, Database::Mode::kWrite, wait_ms));
  Writer writer(std::move(database));
  writer.file_ = file_number(path);
  Database& db = writer.database_;
  OPWRIGHT_TRY_ASSIGN(const std::int64_t tables, db.query_integer("SELECT count(*) FROM sqlite_master"));
  if (tables == 0) {
    OPWRIGHT_TRY(db.execute("PRAGMA page_size = 8192"));
  } else {  // what is refused is not migrated either
    OPWRIGHT_TRY(check_version(db));
    OPWRIGHT_TRY(check_identity(db, identity));
  }
  OPWRIGHT_TRY(migrate(db));
  OPWRIGHT_TRY(
      db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;"
                 "PRAGMA cache_size = -32768; PRAGMA temp_store = MEMORY"));
  OPWRIGHT_TRY(db.execute("BEGIN IMMEDIATE"));
  writer.open_ = true;
  OPWRIGHT_TRY_ASSIGN(const std::int64_t content,
                      db.query_integer("SELECT (SELECT count(*) FROM trace) + (SELECT count(*) FROM run)"));
  writer.created_ = !existed && content == 0;
  OPWRIGHT_TRY_ASSIGN(writer.next_configuration_.value,
                      db.query_integer("SELECT coalesce(max(id), 0) + 1 FROM configuration"));
  OPWRIGHT_TRY_ASSIGN(writer.next_form_.value, db.query_integer("SELECT coalesce(max(id), 0) + 1 FROM form"));
  OPWRIGHT_TRY(writer.prepare());
  OPWRIGHT_TRY_ASSIGN(Statement name_it,
                      db.prepare("INSERT OR IGNORE INTO setting(name, value) VALUES ('identity', ?)"));
  OPWRIGHT_TRY(name_it.bind(1, identity).run());
  OPWRIGHT_TRY(check_identity(db, identity));
  return writer;
}

Writer::Writer(Writer&& other) noexcept
    : database_(std::move(other.database_)),
      open_(std::exchange(other.open_, false)),
      created_(other.created_),
      file_(other.file_),
      next_configuration_(other.next_configuration_),
      next_form_(other.next_form_),
      operations_(std::move(other.operations_)),
      postings_(std::move(other.postings_)),
      statements_(std::move(other.statements_)) {}

Writer::~Writer() { discard(); }

void Writer::discard() {
  if (!open_) return;
  open_ = false;
  statements_ = {};
  // The lock of the transaction is held while the empty file goes, so nobody can have put anything into it; a process
  // that waits for the lock finds out in begin() that its file is gone.
  if (created_) {
    for (const char* part : {"", "-wal", "-shm"}) unlink((database_.path() + part).c_str());
  }
  (void)database_.execute("ROLLBACK");
}

Status Writer::prepare() {
  const auto make = [&](Statement& statement, std::string_view sql) -> Status {
    OPWRIGHT_TRY_ASSIGN(statement, database_.prepare(sql));
    return {};
  };
  OPWRIGHT_TRY(make(statements_.add_configuration,
                    "INSERT INTO configuration(id, operation_id, convention, key) VALUES (?, ?, ?, ?)"));
  OPWRIGHT_TRY(make(statements_.add_pack, "INSERT INTO pack(data) VALUES (?) RETURNING id"));
  OPWRIGHT_TRY(
      make(statements_.add_form,
           "INSERT INTO form(id, fingerprint, configuration_id, kind, op, pack_id, slot, unparsed, unknown_names,"
           " duplicate_keys) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  OPWRIGHT_TRY(make(statements_.add_posting, "INSERT INTO posting(term, first, steps) VALUES (?, ?, ?)"));
  OPWRIGHT_TRY(
      make(statements_.add_occurrence,
           "INSERT INTO occurrence(form_id, source_id, machine_id, trace_id, sweep_source_hash, config_hash, count,"
           " extra, raised) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
           " ON CONFLICT DO UPDATE SET raised = max(raised, excluded.raised),"
           " count = max(coalesce(count, excluded.count), coalesce(excluded.count, count)),"
           " extra = nullif(max(coalesce(extra, ''), coalesce(excluded.extra, '')), '')"
           " WHERE coalesce(excluded.count, -1) > coalesce(count, -1) OR excluded.raised > raised"
           " OR coalesce(excluded.extra, '') > coalesce(extra, '')"));
  OPWRIGHT_TRY(make(statements_.add_example, "UPDATE form SET error = ?2 WHERE id = ?1 AND coalesce(error, '') < ?2"));
  OPWRIGHT_TRY(make(statements_.find_operation, "SELECT id FROM operation WHERE name = ?"));
  OPWRIGHT_TRY(make(statements_.add_operation, "INSERT INTO operation(name) VALUES (?) RETURNING id"));
  OPWRIGHT_TRY(make(statements_.find_source, "SELECT id FROM source WHERE text = ?"));
  OPWRIGHT_TRY(
      make(statements_.add_source, "INSERT INTO source(text, path, hf_model, model) VALUES (?, ?, ?, ?) RETURNING id"));
  OPWRIGHT_TRY(make(statements_.find_machine, "SELECT id FROM machine WHERE text = ?"));
  OPWRIGHT_TRY(make(statements_.add_machine, "INSERT INTO machine(text, label) VALUES (?, ?) RETURNING id"));
  OPWRIGHT_TRY(make(statements_.find_trace, "SELECT id, format, facts FROM trace WHERE uid = ?"));
  OPWRIGHT_TRY(make(statements_.add_trace, "INSERT INTO trace(uid, format, facts) VALUES (?, ?, ?) RETURNING id"));
  return make(statements_.change_trace, "UPDATE trace SET format = ?, facts = ? WHERE id = ?");
}

Status Writer::write(const Batch& batch) {
  for (const NewConfiguration& row : batch.configurations) {
    OPWRIGHT_TRY_ASSIGN(const OperationId op, operation(row.op));
    statements_.add_configuration.bind(1, row.id.value)
        .bind(2, op.value)
        .bind(3, static_cast<int>(row.convention))
        .bind_blob(4, bytes_of(row.key));
    OPWRIGHT_TRY(statements_.add_configuration.run());
  }
  std::vector<std::string_view> texts;
  for (std::size_t from = 0; from < batch.forms.size(); from += kFormsPerPack) {
    const std::size_t to = std::min(from + kFormsPerPack, batch.forms.size());
    texts.clear();
    for (std::size_t i = from; i < to; ++i) texts.push_back(batch.forms[i].text);
    const std::string packed = pack(texts);
    statements_.add_pack.bind_blob(1, packed);
    OPWRIGHT_TRY_ASSIGN(const bool row, statements_.add_pack.step());
    const std::int64_t pack_id = row ? statements_.add_pack.integer(0) : 0;
    OPWRIGHT_TRY(statements_.add_pack.run());
    for (std::size_t i = from; i < to; ++i) {
      const NewForm& form = batch.forms[i];
      const FingerprintBytes fingerprint(form.fingerprint);
      statements_.add_form.bind(1, form.id.value)
          .bind_blob(2, fingerprint.view())
          .bind(3, form.configuration.value)
          .bind(4, static_cast<int>(form.kind))
          .bind(5, form.op);
      statements_.add_form.bind(6, pack_id)
          .bind(7, static_cast<std::int64_t>(i - from))
          .bind(8, form.unparsed)
          .bind(9, form.unknown_names)
          .bind(10, form.duplicate_keys);
      OPWRIGHT_TRY(statements_.add_form.run());
    }
  }
  postings_.insert(postings_.end(), batch.postings.begin(), batch.postings.end());
  return postings_.size() >= kPostingsHeld ? write_postings() : Status();
}

// Many at once and sorted: a term's configurations share a row, and the tree is written from left to right.
Status Writer::write_postings() {
  std::sort(postings_.begin(), postings_.end(), [](const Posting& a, const Posting& b) {
    const auto left = static_cast<std::int64_t>(a.term), right = static_cast<std::int64_t>(b.term);
    return left != right ? left < right : a.configuration < b.configuration;
  });
  std::string steps;
  for (std::size_t from = 0; from < postings_.size();) {
    const Posting& first = postings_[from];
    steps.clear();
    std::size_t to = from + 1;
    for (; to < postings_.size() && postings_[to].term == first.term; ++to) {
      append_step(steps, postings_[to - 1].configuration.value, postings_[to].configuration.value);
    }
    statements_.add_posting.bind(1, static_cast<std::int64_t>(first.term))
        .bind(2, first.configuration.value)
        .bind_blob(3, steps);
    OPWRIGHT_TRY(statements_.add_posting.run());
    from = to;
  }
  postings_.clear();
  return {};
}

Status Writer::add_occurrences(const std::vector<NewOccurrence>& occurrences) {
  for (const NewOccurrence& row : occurrences) {
    statements_.add_occurrence.bind(1, row.form.value)
        .bind(2, row.source.value)
        .bind(3, row.machine.value)
        .bind(4, row.trace.value);
    statements_.add_occurrence.bind(5, row.sweep_source_hash).bind(6, row.config_hash);
    if (row.count == kUncounted)
      statements_.add_occurrence.bind_null(7);
    else
      statements_.add_occurrence.bind(7, row.count);
    bind_optional(statements_.add_occurrence, 8, row.extra);
    statements_.add_occurrence.bind(9, row.raised);
    OPWRIGHT_TRY(statements_.add_occurrence.run());
  }
  return {};
}

Status Writer::add_examples(const std::vector<RaisedExample>& examples) {
  for (const RaisedExample& example : examples)
    OPWRIGHT_TRY(statements_.add_example.bind(1, example.form.value).bind(2, example.error).run());
  return {};
}

Result<std::int64_t> Writer::intern(Statement& find, Statement& add, std::string_view name) {
  find.bind(1, name);
  OPWRIGHT_TRY_ASSIGN(const bool known, find.step());
  if (known) {
    const std::int64_t id = find.integer(0);
    find.reset();
    return id;
  }
  add.bind(1, name);
  OPWRIGHT_TRY_ASSIGN(const bool row, add.step());
  const std::int64_t id = row ? add.integer(0) : 0;
  OPWRIGHT_TRY(add.run());
  return id;
}

Result<OperationId> Writer::operation(const std::string& name) {
  if (const auto known = operations_.find(name); known != operations_.end()) return known->second;
  OPWRIGHT_TRY_ASSIGN(const std::int64_t id, intern(statements_.find_operation, statements_.add_operation, name));
  return operations_[name] = OperationId{id};
}

Result<SourceId> Writer::source(const SourceFacts& facts) {
  if (facts.text.empty()) return SourceId{0};
  statements_.add_source.bind(2, facts.path).bind(4, facts.model);
  bind_optional(statements_.add_source, 3, facts.hf_model);
  OPWRIGHT_TRY_ASSIGN(const std::int64_t id, intern(statements_.find_source, statements_.add_source, facts.text));
  return SourceId{id};
}

Result<MachineId> Writer::machine(std::string_view text, std::string_view label) {
  if (text.empty()) return MachineId{0};
  statements_.add_machine.bind(2, label);
  OPWRIGHT_TRY_ASSIGN(const std::int64_t id, intern(statements_.find_machine, statements_.add_machine, text));
  return MachineId{id};
}

Result<TraceId> Writer::trace(std::string_view uid, std::string_view format, std::string_view facts) {
  statements_.find_trace.bind(1, uid);
  OPWRIGHT_TRY_ASSIGN(const bool known, statements_.find_trace.step());
  if (known) {
    const TraceId id{statements_.find_trace.integer(0)};
    const std::string old_format(statements_.find_trace.text(1)), old_facts(statements_.find_trace.text(2));
    statements_.find_trace.reset();
    const std::string joined = joined_facts(old_facts, facts);
    const std::string_view least = std::min<std::string_view>(old_format, format);
    if (joined == old_facts && least == old_format) return id;
    OPWRIGHT_TRY(statements_.change_trace.bind(1, least).bind(2, joined).bind(3, id.value).run());
    return id;
  }
  const std::string sorted = joined_facts("{}", facts);
  statements_.add_trace.bind(1, uid).bind(2, format).bind(3, sorted);
  OPWRIGHT_TRY_ASSIGN(const bool row, statements_.add_trace.step());
  const std::int64_t id = row ? statements_.add_trace.integer(0) : 0;
  OPWRIGHT_TRY(statements_.add_trace.run());
  return TraceId{id};
}

Status Writer::commit() {
  OPWRIGHT_TRY(write_postings());
  OPWRIGHT_TRY(database_.execute("COMMIT"));
  open_ = false;
  return {};
}

Result<std::optional<Lookup>> Lookup::open(const std::string& path, int wait_ms) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  OPWRIGHT_TRY_ASSIGN(Database database, Database::open(path, Database::Mode::kRead, wait_ms));
  OPWRIGHT_TRY_ASSIGN(const std::int64_t tables, database.query_integer("SELECT count(*) FROM sqlite_master"));
  if (tables == 0) return std::nullopt;
  OPWRIGHT_TRY(check_version(database));
  Lookup lookup(std::move(database));
  OPWRIGHT_TRY_ASSIGN(
      lookup.find_form_,
      lookup.database_.prepare(
          "SELECT id, configuration_id, unparsed, unknown_names, duplicate_keys FROM form WHERE fingerprint = ?"));
  OPWRIGHT_TRY_ASSIGN(lookup.find_configuration_,
                      lookup.database_.prepare("SELECT id FROM configuration WHERE key = ?"));
  OPWRIGHT_TRY(lookup.database_.execute("BEGIN"));
  return lookup;
}

Result<std::optional<Lookup::Form>> Lookup::form(const Hash128& fingerprint) {
  const FingerprintBytes bytes(fingerprint);
  find_form_.bind_blob(1, bytes.view());
  OPWRIGHT_TRY_ASSIGN(const bool row, find_form_.step());
  if (!row) return std::nullopt;
  const Form form{{find_form_.integer(0)},
                  {find_form_.integer(1)},
                  find_form_.integer(2),
                  find_form_.integer(3),
                  find_form_.integer(4)};
  find_form_.reset();
  return form;
}

Result<std::optional<ConfigId>> Lookup::configuration(const ConfigKey& key) {
  find_configuration_.bind_blob(1, bytes_of(key));
  OPWRIGHT_TRY_ASSIGN(const bool row, find_configuration_.step());
  if (!row) return std::nullopt;
  const ConfigId id{find_configuration_.integer(0)};
  find_configuration_.reset();
  return id;
}

}  // namespace opwright::store
