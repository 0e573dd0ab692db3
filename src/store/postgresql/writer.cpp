#include "store/postgresql/writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/encoding/pack.h"
#include "store/encoding/posting_list.h"
#include "store/encoding/row_bytes.h"
#include "store/postgresql/schema.h"
#include "store/postgresql/sequences.h"

namespace opwright::store::postgresql {
namespace {

constexpr std::size_t kListsHeld = 1 << 19;  // entries sorted together: the more, the fewer pieces a list has

std::uint64_t mixed(std::uint64_t kind, std::int64_t value) {
  return kind ^ (static_cast<std::uint64_t>(value) * 0x9e3779b97f4a7c15u);
}
std::int64_t column(std::uint64_t hash) { return static_cast<std::int64_t>(hash); }

}  // namespace

Result<std::unique_ptr<Writer>> Writer::begin(const Address& address, int wait_ms, const std::string& identity) {
  OPWRIGHT_TRY_ASSIGN(Connection connection, Connection::open(address, wait_ms));
  OPWRIGHT_TRY(migrate(connection));
  OPWRIGHT_TRY(check_identity(connection, identity));
  std::unique_ptr<Writer> writer(new Writer(std::move(connection)));
  // Rows are looked for through indexes, whatever the server believes of tables that were empty a second ago.
  OPWRIGHT_TRY(writer->connection_.execute(
      "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; BEGIN"));
  writer->open_ = true;
  OPWRIGHT_TRY(lock_configurations(writer->connection_));
  OPWRIGHT_TRY(writer->load(identity));
  return writer;
}

Writer::~Writer() { discard(); }

void Writer::discard() {
  if (!open_) return;
  open_ = false;
  (void)connection_.execute("ROLLBACK");
}

Status Writer::load(const std::string& identity) {
  OPWRIGHT_TRY_ASSIGN(
      const Rows next,
      connection_.query(
          "SELECT (SELECT coalesce(max(id), 0) + 1 FROM configuration), (SELECT coalesce(max(id), 0) + 1 FROM form), "
          "(SELECT coalesce(max(id), 0) + 1 FROM pack), (SELECT coalesce(max(id), 0) + 1 FROM operation), (SELECT "
          "max(id) + 1 FROM source), (SELECT max(id) + 1 FROM machine), (SELECT coalesce(max(id), 0) + 1 FROM trace), "
          "(SELECT coalesce(max(id), 0) + 1 FROM sequence), pg_current_xact_id()::text::bigint"));
  next_configuration_ = {next.integer(0, 0)};
  next_form_ = first_form_ = {next.integer(0, 1)};
  next_pack_ = next.integer(0, 2);
  next_operation_ = next.integer(0, 3);
  next_source_ = next.integer(0, 4);
  next_machine_ = next.integer(0, 5);
  next_trace_ = next.integer(0, 6);
  next_sequence_ = next.integer(0, 7);
  transaction_ = next.integer(0, 8);
  const auto load = [&](const char* sql, Names& names) -> Status {
    OPWRIGHT_TRY_ASSIGN(const Rows rows, connection_.query(sql));
    for (int i = 0; i < rows.count(); ++i) names.emplace(rows.text(i, 1), rows.integer(i, 0));
    return {};
  };
  OPWRIGHT_TRY(load("SELECT id, name FROM operation", operations_));
  OPWRIGHT_TRY(load("SELECT id, text FROM source", sources_));
  OPWRIGHT_TRY(load("SELECT id, text FROM machine", machines_));
  OPWRIGHT_TRY_ASSIGN(const Rows traces, connection_.query("SELECT id, uid, format, facts FROM trace"));
  for (int i = 0; i < traces.count(); ++i)
    traces_.emplace(traces.text(i, 1), Trace{traces.integer(i, 0), traces.text(i, 2), traces.text(i, 3)});
  OPWRIGHT_TRY_ASSIGN(const auto sequences, read_sequences(connection_));
  for (const SequenceRow& row : sequences) sequences_.emplace(row.sequence.uid, row);
  Params name;
  name << std::string_view(identity);
  OPWRIGHT_TRY(connection_.query("INSERT INTO setting VALUES ('identity', $1) ON CONFLICT DO NOTHING", name));
  return check_identity(connection_, identity);  // another first import may have ended while we waited
}

// ---- configurations and forms

Status Writer::write(const Batch& batch) {
  for (const NewConfiguration& added : batch.configurations) {
    OPWRIGHT_TRY_ASSIGN(const std::int64_t op, operation(added.op));
    new_configurations_.row(4) << added.id.value << op << static_cast<std::int64_t>(added.convention)
                               << Blob{bytes_of(added.key)};
    blocks_.change(added.id);
    if (!added.parts.empty()) OPWRIGHT_TRY(blocks_.put_parts(connection_, added.id, added.parts));
  }
  OPWRIGHT_TRY(connection_.copy("configuration (id, operation_id, convention, key)", new_configurations_));
  const std::span<const NewForm> forms(batch.forms);
  for (std::size_t from = 0; from < forms.size(); from += kFormsPerPack)
    OPWRIGHT_TRY(write_forms(forms.subspan(from, std::min(kFormsPerPack, forms.size() - from))));
  OPWRIGHT_TRY(connection_.copy("pack (id, data)", new_packs_));
  OPWRIGHT_TRY(
      connection_.copy("form (id, fingerprint, configuration_id, kind, op, pack_id, slot, unparsed, unknown_names, "
                       "duplicate_keys, error)",
                       new_forms_));
  OPWRIGHT_TRY(replace_records(batch.records));
  for (const NewPiece& piece : batch.pieces) OPWRIGHT_TRY(write_piece(piece));
  OPWRIGHT_TRY(add_facts(batch.facts, batch.words));
  for (const Posting& posting : batch.postings) postings_.add(posting.term, posting.term, posting.configuration.value);
  return postings_.size() + facts_.size() >= kListsHeld ? write_lists() : Status();
}

// Those of one pack.
Status Writer::write_forms(std::span<const NewForm> forms) {
  std::vector<std::string_view> texts;
  for (const NewForm& form : forms) texts.push_back(form.text);
  const std::string packed = pack(texts);
  const std::int64_t pack_id = next_pack_++;
  new_packs_.row(2) << pack_id << Blob{packed};
  std::int64_t slot = 0;
  for (const NewForm& form : forms) {
    new_forms_.row(11) << form.id.value << Blob{FingerprintBytes(form.fingerprint).view()} << form.configuration.value
                       << static_cast<std::int64_t>(form.kind) << std::string_view(form.op) << pack_id << slot++
                       << form.unparsed << form.unknown_names << form.duplicate_keys << std::string_view();
    const auto place = static_cast<std::size_t>(form.id.value - first_form_.value);
    if (form_configs_.size() <= place) form_configs_.resize(place + 1);
    form_configs_[place] = form.configuration;
  }
  return {};
}

Status Writer::replace_records(std::span<const NewRecord> records) {
  if (records.empty()) return {};
  std::vector<std::int64_t> ids;
  for (const NewRecord& record : records) ids.push_back(record.configuration.value);
  Params of;
  of << ids;
  OPWRIGHT_TRY_ASSIGN(const Rows rows, connection_.query("SELECT DISTINCT ON (configuration_id) configuration_id, "
                                                         "fingerprint FROM form WHERE configuration_id = ANY($1) ORDER "
                                                         "BY configuration_id, fingerprint",
                                                         of));
  std::unordered_map<std::int64_t, std::string_view> first;
  for (int i = 0; i < rows.count(); ++i) first.emplace(rows.integer(i, 0), rows.blob(i, 1));
  for (const NewRecord& record : records) {
    const auto found = first.find(record.configuration.value);
    if (found != first.end() && found->second == FingerprintBytes(record.fingerprint).view())
      OPWRIGHT_TRY(blocks_.put_parts(connection_, record.configuration, record.parts));
  }
  return {};
}

Result<std::vector<ConfigId>> Writer::without_records() {
  OPWRIGHT_TRY_ASSIGN(const Rows rows, connection_.query("SELECT id FROM configuration c WHERE NOT EXISTS (SELECT FROM "
                                                         "record r WHERE r.id = c.id >> 6) ORDER BY id"));
  std::vector<ConfigId> ids;
  for (int i = 0; i < rows.count(); ++i) ids.push_back({rows.integer(i, 0)});
  return ids;
}

// ---- the index

Status Writer::add_facts(std::span<const Fact> facts, std::span<const Word> words) {
  std::vector<std::int64_t> kinds, values;
  std::vector<std::string> texts;
  for (const Word& word : words) {
    if (!words_.insert(mixed(word.kind, word.value)).second) continue;
    kinds.push_back(column(word.kind));
    values.push_back(word.value);
    texts.push_back(word.text);
  }
  if (!kinds.empty()) {
    Params put;
    (put << kinds << values).texts(texts);
    OPWRIGHT_TRY(connection_.query("INSERT INTO word SELECT * FROM unnest($1, $2, $3) ON CONFLICT DO NOTHING", put));
  }
  for (const Fact& fact : facts)
    facts_.add({fact.kind, fact.value}, mixed(fact.kind, fact.value), fact.configuration.value);
  return {};
}

Status Writer::write_lists() {
  const auto by_term = [](std::uint64_t a, std::uint64_t b) { return column(a) < column(b); };
  OPWRIGHT_TRY(postings_.take(by_term, [&](std::uint64_t term, std::span<const std::int64_t> ids) -> Status {
    new_postings_.row(3) << column(term) << ids.front() << Blob{steps_of(ids)};
    return {};
  }));
  const auto by_number = [](const Number& a, const Number& b) {
    return a.kind != b.kind ? column(a.kind) < column(b.kind) : a.value < b.value;
  };
  OPWRIGHT_TRY(facts_.take(by_number, [&](const Number& fact, std::span<const std::int64_t> ids) -> Status {
    new_facts_.row(4) << column(fact.kind) << fact.value << ids.front() << Blob{steps_of(ids)};
    return {};
  }));
  OPWRIGHT_TRY(connection_.copy("posting (term, first, steps)", new_postings_));
  return connection_.copy("fact (kind, value, first, steps)", new_facts_);
}

// Where configurations were seen comes again for those that have it: such a list is one piece, united.
Status Writer::unite_seen() {
  if (seen_.empty()) return {};
  std::vector<std::int64_t> kinds, values;
  for (const auto& [number, ids] : seen_) {
    kinds.push_back(column(number.kind));
    values.push_back(number.value);
  }
  Params of;
  of << kinds << values;
  OPWRIGHT_TRY_ASSIGN(
      const Rows rows,
      connection_.query("SELECT f.kind, f.value, f.first, f.steps FROM unnest($1, $2) AS n(kind, value), "
                        "LATERAL (SELECT * FROM fact WHERE kind = n.kind AND value = n.value OFFSET 0) f",
                        of));
  std::map<Number, std::vector<std::int64_t>> there;
  for (int i = 0; i < rows.count(); ++i) {
    if (!decode_ids(rows.integer(i, 2), rows.blob(i, 3),
                    there[{static_cast<std::uint64_t>(rows.integer(i, 0)), rows.integer(i, 1)}]))
      return fail(ErrorCode::kBadInput, fmt::format("{}: table fact: a list cannot be read; the store is damaged, "
                                                    "restore a backup (nothing was changed)",
                                                    connection_.name()));
  }
  kinds.clear();
  values.clear();
  const auto settle = [](std::vector<std::int64_t>& all) {
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
  };
  for (auto& [number, ids] : seen_) {
    settle(ids);
    std::vector<std::int64_t>& before = there[number];
    settle(before);
    if (std::includes(before.begin(), before.end(), ids.begin(), ids.end())) continue;
    kinds.push_back(column(number.kind));
    values.push_back(number.value);
    ids.insert(ids.end(), before.begin(), before.end());
    settle(ids);
    new_facts_.row(4) << column(number.kind) << number.value << ids.front() << Blob{steps_of(ids)};
  }
  seen_.clear();
  Params changed;
  changed << kinds << values;
  OPWRIGHT_TRY(connection_.query(
      "DELETE FROM fact USING unnest($1, $2) AS n(kind, value) WHERE fact.kind = n.kind AND fact.value = n.value",
      changed));
  return connection_.copy("fact (kind, value, first, steps)", new_facts_);
}

// ---- the end

Status Writer::commit() {
  OPWRIGHT_TRY(write_lists());
  OPWRIGHT_TRY(unite_seen());
  OPWRIGHT_TRY(blocks_.finish(connection_));
  const Status done = connection_.execute("COMMIT");
  if (!done && connection_.is_lost()) return find_committed();
  if (done) open_ = false;
  return done;
}

// The connection was lost while it was said to commit: the server knows how that ended.
Status Writer::find_committed() {
  open_ = false;
  const std::string lost = connection_.name() + ": the connection to the server was lost at the commit";
  // Not kIo: nobody may say that nothing was imported.
  const auto unknown = [&] {
    return fail(ErrorCode::kLocked,
                lost +
                    ", and the server cannot say whether it was written; run the command again when "
                    "it is back, nothing will be there twice");
  };
  auto again = Connection::open(connection_.address(), connection_.wait_ms());
  if (!again) return unknown();
  while (true) {
    Params of;
    of << std::string_view(std::to_string(transaction_));
    const auto state = again->query("SELECT pg_xact_status($1::xid8)", of);
    if (!state || state->is_null(0, 0)) return unknown();
    if (state->text(0, 0) == "committed") return {};
    if (state->text(0, 0) == "aborted")
      return fail(ErrorCode::kIo, lost + ", and it was undone; run the command again");
    if (!again->execute("SELECT pg_sleep(0.05)")) return unknown();
  }
}

}  // namespace opwright::store::postgresql
