#include "store/sqlite/reader.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "store/encoding/posting_list.h"
#include "store/sqlite/schema.h"
#include "store/sqlite_door.h"

namespace opwright::store::sqlite {
namespace {

constexpr std::size_t kOpenPacks = 16;

using Names = std::unordered_map<std::int64_t, OccurrenceRow>;

// Of the sources with these ids, "3,7,8"; 0 is none.
std::int64_t count_functions(const Names& sources, std::string_view ids) {
  std::vector<std::string_view> among;
  while (!ids.empty()) {
    std::int64_t id = 0;
    const auto [end, error] = std::from_chars(ids.data(), ids.data() + ids.size(), id);
    if (error != std::errc()) break;
    ids.remove_prefix(static_cast<std::size_t>(end - ids.data()));
    if (ids.starts_with(',')) ids.remove_prefix(1);
    if (const auto known = sources.find(id); known != sources.end() && id != 0) among.push_back(known->second.source);
  }
  return store::count_functions(among);
}

}  // namespace

Result<Reader> Reader::open(const std::string& path, int wait_ms, const std::string& identity) {
  OPWRIGHT_TRY(check_store_name(path));
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("{}: no store there; import a trace first (opwright import PATH) or name a store with --store",
                    path));
  }
  OPWRIGHT_TRY_ASSIGN(Database database, Database::open(path, Database::Mode::kRead, wait_ms));
  Reader reader(std::move(database));
  Database& db = reader.database_;
  // Not mapped: a page behind the end of a file that somebody cuts would be a signal, not an error.
  OPWRIGHT_TRY(db.execute("PRAGMA cache_size = -16384; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY; BEGIN"));
  OPWRIGHT_TRY(check_version(db));
  OPWRIGHT_TRY(check_definitions(db));
  OPWRIGHT_TRY_ASSIGN(const std::int64_t version, db.query_integer("PRAGMA user_version"));
  reader.verifier_.set_schema(version);
  if (!identity.empty()) OPWRIGHT_TRY(check_identity(db, identity));
  OPWRIGHT_TRY(read_as_current(db));
  OPWRIGHT_TRY_ASSIGN(reader.find_forms_, db.prepare("SELECT id, kind, op, pack_id, slot, error FROM form"
                                                     " WHERE configuration_id = ? ORDER BY fingerprint"));
  OPWRIGHT_TRY_ASSIGN(reader.find_occurrences_,
                      db.prepare("SELECT source_id, machine_id, trace_id, count, extra, sweep_source_hash, config_hash,"
                                 " raised FROM occurrence WHERE form_id = ?"));
  OPWRIGHT_TRY(reader.load_names());
  OPWRIGHT_TRY_ASSIGN(reader.find_posting_,
                      db.prepare("SELECT first, steps FROM posting WHERE term = ? ORDER BY first"));
  OPWRIGHT_TRY_ASSIGN(reader.find_pack_,
                      db.prepare(version < kFirstSummedSchema ? "SELECT id, data FROM pack WHERE id = ?"
                                                              : "SELECT id, data, sum FROM pack WHERE id = ?"));
  OPWRIGHT_TRY(reader.facts_.prepare(db, reader.verifier_, version));
  OPWRIGHT_TRY(reader.blocks_.prepare(db, version));
  return reader;
}

Result<Totals> Reader::totals() {
  Totals totals;
  for (const Part part : {Part::kOperation, Part::kConfiguration, Part::kForm})
    OPWRIGHT_TRY(verifier_.check_all(database_, part));
  // Of the tables that were verified, not of one of their indexes, which SQLite would rather count.
  const auto count = [&](const char* table) {
    return database_.query_integer(fmt::format("SELECT count(*) FROM main.{} NOT INDEXED", table));
  };
  OPWRIGHT_TRY_ASSIGN(totals.operations, count("operation"));
  OPWRIGHT_TRY_ASSIGN(totals.configurations, count("configuration"));
  OPWRIGHT_TRY_ASSIGN(totals.forms, count("form"));
  const auto known = [](const auto& rows) { return static_cast<std::int64_t>(rows.size() - rows.count(0)); };
  std::vector<std::string_view> texts;
  for (const auto& [id, row] : sources_) texts.push_back(id != 0 ? std::string_view(row.source) : "");
  totals.sources = store::count_functions(texts);
  totals.machines = known(machines_);
  totals.traces = static_cast<std::int64_t>(traces_.size());
  OPWRIGHT_TRY_ASSIGN(totals.schema, database_.query_integer("PRAGMA user_version"));
  OPWRIGHT_TRY_ASSIGN(const std::int64_t pages, database_.query_integer("PRAGMA page_count"));
  OPWRIGHT_TRY_ASSIGN(const std::int64_t page, database_.query_integer("PRAGMA page_size"));
  totals.bytes = pages * page;
  return totals;
}

Result<std::vector<OperationRow>> Reader::operations() {
  for (const Part part : {Part::kOperation, Part::kConfiguration, Part::kForm, Part::kOccurrence})
    OPWRIGHT_TRY(verifier_.check_all(database_, part));
  OPWRIGHT_TRY_ASSIGN(
      Statement statement,
      database_.prepare("SELECT o.name, count(DISTINCT c.id), coalesce(sum(x.count), 0),"
                        " count(DISTINCT iif(x.count IS NULL, x.form_id || ':' || x.trace_id, NULL)),"
                        " group_concat(DISTINCT nullif(x.source_id, 0)), coalesce(sum(x.raised), 0)"
                        " FROM operation o JOIN configuration c ON c.operation_id = o.id"
                        " LEFT JOIN form f ON f.configuration_id = c.id LEFT JOIN counted x ON x.form_id = f.id"
                        " GROUP BY o.id ORDER BY 2 DESC, 1"));
  std::vector<OperationRow> rows;
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool row, statement.step());
    if (!row) return rows;
    rows.push_back({std::string(statement.text(0)), statement.integer(1), statement.integer(2) + statement.integer(3),
                    statement.integer(3), count_functions(sources_, statement.text(4)), statement.integer(5)});
  }
}

Result<std::vector<std::string>> Reader::operation_names() {
  std::vector<std::string> names;
  OPWRIGHT_TRY(read_whole(Part::kOperation, [&](const Statement& row) -> Status {
    names.emplace_back(row.text(1));
    return {};
  }));
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::vector<std::int64_t>> Reader::with_term(std::uint64_t term) {
  std::vector<std::int64_t> ids;
  OPWRIGHT_TRY(verifier_.check(database_, Part::kPosting, top_group(static_cast<std::int64_t>(term))));
  find_posting_.bind(1, static_cast<std::int64_t>(term));
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool row, find_posting_.step());
    if (!row) return ids;
    if (!decode_ids(find_posting_.integer(0), find_posting_.blob(1), ids)) {
      return fail(damage(database_.path(), fmt::format("table posting: the list of term {} cannot be read", term)));
    }
  }
}

Result<std::vector<std::int64_t>> Reader::all() {
  OPWRIGHT_TRY(verifier_.check_all(database_, Part::kConfiguration));
  OPWRIGHT_TRY_ASSIGN(Statement statement, database_.prepare("SELECT id FROM configuration ORDER BY id"));
  std::vector<std::int64_t> ids;
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool row, statement.step());
    if (!row) return ids;
    ids.push_back(statement.integer(0));
  }
}

Result<std::vector<SourceRow>> Reader::sources() {
  std::vector<SourceRow> rows;
  for (const auto& [id, row] : sources_) rows.push_back({{id}, row.source, row.hf_model});
  return rows;
}

Result<std::vector<MachineRow>> Reader::machines() {
  std::vector<MachineRow> rows;
  for (const auto& [id, row] : machines_) rows.push_back({{id}, row.machine, row.machine_label});
  return rows;
}

Result<std::vector<Word>> Reader::words(std::span<const std::uint64_t> kinds) {
  return facts_.words(database_, verifier_, kinds);
}

Result<std::vector<ConfigId>> Reader::with_key(std::string_view hex) {
  std::string low(hex), high(hex);
  low.resize(64, '0');
  high.resize(64, 'f');
  Sha256 from, to;
  std::vector<ConfigId> ids;
  if (!from_hex(low, from) || !from_hex(high, to)) return ids;
  const auto bytes = [](const Sha256& key) {
    return std::string_view(reinterpret_cast<const char*>(key.data()), key.size());
  };
  for (std::int64_t group = prefix_group(bytes(from)); group <= prefix_group(bytes(to)); ++group)
    OPWRIGHT_TRY(verifier_.check(database_, Part::kConfigurationByKey, group));
  OPWRIGHT_TRY_ASSIGN(Statement statement,
                      database_.prepare("SELECT id FROM configuration WHERE key BETWEEN ? AND ? ORDER BY id"));
  statement.bind_blob(1, bytes(from)).bind_blob(2, bytes(to));
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool row, statement.step());
    if (!row) return ids;
    ids.push_back({statement.integer(0)});
  }
}

Result<const Unpacked*> Reader::opened_pack(std::int64_t id) {
  if (const auto found = packs_.find(id); found != packs_.end()) return &found->second;
  find_pack_.bind(1, id);
  OPWRIGHT_TRY_ASSIGN(const bool found, find_pack_.step());
  if (!found) return fail(damage(database_.path(), fmt::format("table pack: row {} is missing", id)));
  if (verifier_.verifies()) OPWRIGHT_TRY(verifier_.check_row(database_, Part::kPack, find_pack_));
  auto unpacked = Unpacked::open(find_pack_.blob(1));
  if (!unpacked)
    return fail(damage(database_.path(), fmt::format("table pack, row {}: {}", id, unpacked.error().message)));
  find_pack_.reset();
  if (packs_.size() >= kOpenPacks) packs_.erase(packs_.begin());
  return &packs_.emplace(id, *std::move(unpacked)).first->second;
}

Result<std::vector<FormRow>> Reader::forms(std::span<const ConfigId> ids) {
  std::vector<FormRow> rows;
  rows.reserve(ids.size());
  for (const ConfigId id : ids) OPWRIGHT_TRY(append_forms(id, rows));
  return rows;
}

Status Reader::append_forms(ConfigId id, std::vector<FormRow>& rows) {
  OPWRIGHT_TRY(verifier_.check(database_, Part::kForm, range_group(id.value)));
  find_forms_.bind(1, id.value);
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool found, find_forms_.step());
    if (!found) return {};
    FormRow row;
    row.id = {find_forms_.integer(0)};
    row.configuration = id;
    row.kind = static_cast<FormKind>(find_forms_.integer(1));
    row.op = find_forms_.text(2);
    const auto slot = static_cast<std::size_t>(find_forms_.integer(4));
    OPWRIGHT_TRY_ASSIGN(const Unpacked* pack, opened_pack(find_forms_.integer(3)));
    if (slot >= pack->size())
      return fail(
          damage(database_.path(), fmt::format("table form, row {}: it points outside its pack", row.id.value)));
    row.text = pack->text(slot);
    row.error = find_forms_.text(5);
    rows.push_back(std::move(row));
  }
}

Status Reader::read_whole(Part part, const Verifier::Use& use) {
  if (verifier_.verifies()) return verifier_.read(database_, part, 0, use);
  OPWRIGHT_TRY_ASSIGN(Statement statement, database_.prepare(fmt::format(
                                               "SELECT {} FROM {}", column_list(part_of(part)), part_of(part).table)));
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool row, statement.step());
    if (!row) return {};
    OPWRIGHT_TRY(use(statement));
  }
}

// Sources, machines and traces are few and shared by all occurrences: read once, then looked up.
Status Reader::load_names() {
  OPWRIGHT_TRY(read_whole(Part::kSource, [&](const Statement& s) -> Status {
    OccurrenceRow& row = sources_[s.integer(0)];
    row.source = s.text(1);
    row.hf_model = s.text(3);
    row.model = s.text(4);
    return {};
  }));
  OPWRIGHT_TRY(read_whole(Part::kMachine, [&](const Statement& s) -> Status {
    OccurrenceRow& row = machines_[s.integer(0)];
    row.machine = s.text(1);
    row.machine_label = s.text(2);
    return {};
  }));
  return read_whole(Part::kTrace, [&](const Statement& s) -> Status {
    traces_[s.integer(0)] = {std::string(s.text(1)), std::string(s.text(2)), std::string(s.text(3))};
    return {};
  });
}

Result<std::vector<OccurrenceRow>> Reader::occurrences(std::span<const FormRow> forms) {
  std::vector<OccurrenceRow> rows;
  for (const FormRow& form : forms) {
    const std::size_t first = rows.size();
    OPWRIGHT_TRY(verifier_.check(database_, Part::kOccurrence, range_group(form.id.value)));
    find_occurrences_.bind(1, form.id.value);
    while (true) {
      OPWRIGHT_TRY_ASSIGN(const bool found, find_occurrences_.step());
      if (!found) break;
      const Statement& s = find_occurrences_;
      const auto source = sources_.find(s.integer(0)), machine_found = machines_.find(s.integer(1));
      const auto trace = traces_.find(s.integer(2));
      if (source == sources_.end() || machine_found == machines_.end() || trace == traces_.end())
        return fail(damage(
            database_.path(),
            fmt::format("table occurrence, a row of form {}: its source, machine or trace is missing", form.id.value)));
      OccurrenceRow row = source->second;
      const OccurrenceRow& machine = machine_found->second;
      row.form = form.id;
      row.machine = machine.machine;
      row.machine_label = machine.machine_label;
      row.trace_uid = trace->second.uid;
      row.count = s.is_null(3) ? kUncounted : s.integer(3);
      row.extra = s.text(4);
      row.sweep_source_hash = s.text(5);
      row.config_hash = s.text(6);
      row.raised = s.integer(7);
      rows.push_back(std::move(row));
    }
    std::sort(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(),
              [](const OccurrenceRow& a, const OccurrenceRow& b) {
                return std::tie(a.source, a.machine, a.trace_uid, a.sweep_source_hash, a.config_hash) <
                       std::tie(b.source, b.machine, b.trace_uid, b.sweep_source_hash, b.config_hash);
              });
  }
  return rows;
}

Result<std::vector<TraceRow>> Reader::traces() {
  std::vector<TraceRow> rows;
  for (const auto& [id, row] : traces_) rows.push_back(row);
  std::sort(rows.begin(), rows.end(), [](const TraceRow& a, const TraceRow& b) { return a.uid < b.uid; });
  return rows;
}

}  // namespace opwright::store::sqlite
