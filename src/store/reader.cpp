#include "store/reader.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>
#include <tuple>

#include "model/test_id.h"
#include "store/posting_list.h"
#include "store/schema.h"

namespace opwright::store {
namespace {

constexpr std::size_t kOpenPacks = 16;

using Names = std::unordered_map<std::int64_t, OccurrenceRow>;

// Parametrisations of a test are one source.
std::int64_t count_functions(const Names& sources) {
  std::set<std::string> functions;
  for (const auto& [id, row] : sources) {
    if (id != 0) functions.insert(test_function(row.source));
  }
  return static_cast<std::int64_t>(functions.size());
}

// The same among these sources: "3,7,8".
std::int64_t count_functions(const Names& sources, std::string_view ids) {
  Names among;
  while (!ids.empty()) {
    std::int64_t id = 0;
    const auto [end, error] = std::from_chars(ids.data(), ids.data() + ids.size(), id);
    if (error != std::errc()) break;
    ids.remove_prefix(static_cast<std::size_t>(end - ids.data()));
    if (ids.starts_with(',')) ids.remove_prefix(1);
    if (const auto known = sources.find(id); known != sources.end()) among.insert(*known);
  }
  return count_functions(among);
}

}  // namespace

Result<Reader> Reader::open(const std::string& path, int wait_ms, const std::string& identity) {
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
  OPWRIGHT_TRY(
      db.execute("PRAGMA cache_size = -16384; PRAGMA mmap_size = 268435456; PRAGMA temp_store = MEMORY; BEGIN"));
  OPWRIGHT_TRY(check_version(db));
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
  OPWRIGHT_TRY_ASSIGN(reader.find_pack_, db.prepare("SELECT data FROM pack WHERE id = ?"));
  return reader;
}

Result<Totals> Reader::totals() {
  Totals totals;
  OPWRIGHT_TRY_ASSIGN(
      Statement statement,
      database_.prepare(
          "SELECT (SELECT count(*) FROM operation), (SELECT count(*) FROM configuration), (SELECT count(*) FROM form),"
          " (SELECT count(*) FROM source WHERE id > 0), (SELECT count(*) FROM machine WHERE id > 0),"
          " (SELECT count(*) FROM trace)"));
  OPWRIGHT_TRY_ASSIGN(const bool row, statement.step());
  if (row) {
    totals = {statement.integer(0),
              statement.integer(1),
              statement.integer(2),
              statement.integer(3),
              statement.integer(4),
              statement.integer(5),
              0,
              0};
    totals.sources = count_functions(sources_);
  }
  OPWRIGHT_TRY_ASSIGN(totals.schema, database_.query_integer("PRAGMA user_version"));
  OPWRIGHT_TRY_ASSIGN(const std::int64_t pages, database_.query_integer("PRAGMA page_count"));
  OPWRIGHT_TRY_ASSIGN(const std::int64_t page, database_.query_integer("PRAGMA page_size"));
  totals.bytes = pages * page;
  return totals;
}

Status Reader::check() {
  OPWRIGHT_TRY_ASSIGN(Statement quick, database_.prepare("PRAGMA quick_check(1)"));
  OPWRIGHT_TRY_ASSIGN(const bool row, quick.step());
  if (row && quick.text(0) != "ok")
    return fail(ErrorCode::kBadInput, fmt::format("{}: the store is damaged: {}", database_.path(), quick.text(0)));
  OPWRIGHT_TRY_ASSIGN(Statement packs, database_.prepare("SELECT data FROM pack"));
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool pack, packs.step());
    if (!pack) break;
    OPWRIGHT_TRY(Unpacked::open(packs.blob(0)));
  }
  OPWRIGHT_TRY_ASSIGN(Statement lists, database_.prepare("SELECT first, steps FROM posting"));
  std::vector<std::int64_t> ids;
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool list, lists.step());
    if (!list) break;
    ids.clear();
    if (!decode_ids(lists.integer(0), lists.blob(1), ids))
      return fail(ErrorCode::kBadInput, fmt::format("{}: a list of the index is damaged", database_.path()));
  }
  OPWRIGHT_TRY_ASSIGN(Statement keys, database_.prepare("PRAGMA foreign_key_check"));
  OPWRIGHT_TRY_ASSIGN(const bool orphan, keys.step());
  if (orphan)
    return fail(ErrorCode::kBadInput, fmt::format("{}: a row of table {} points nowhere; the store is damaged",
                                                  database_.path(), keys.text(0)));
  return {};
}

Result<std::vector<OperationRow>> Reader::operations() {
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
  OPWRIGHT_TRY_ASSIGN(Statement statement, database_.prepare("SELECT name FROM operation ORDER BY name"));
  std::vector<std::string> names;
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool row, statement.step());
    if (!row) return names;
    names.emplace_back(statement.text(0));
  }
}

Result<std::vector<std::int64_t>> Reader::posting(std::uint64_t term) {
  std::vector<std::int64_t> ids;
  find_posting_.bind(1, static_cast<std::int64_t>(term));
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool row, find_posting_.step());
    if (!row) return ids;
    if (!decode_ids(find_posting_.integer(0), find_posting_.blob(1), ids)) {
      return fail(ErrorCode::kBadInput,
                  fmt::format("{}: a list of the index is damaged; restore a copy of the store", database_.path()));
    }
  }
}

Result<std::vector<ConfigId>> Reader::candidates(std::span<const std::uint64_t> terms) {
  std::vector<ConfigId> ids;
  if (terms.empty()) {
    OPWRIGHT_TRY_ASSIGN(Statement statement, database_.prepare("SELECT id FROM configuration ORDER BY id"));
    while (true) {
      OPWRIGHT_TRY_ASSIGN(const bool row, statement.step());
      if (!row) return ids;
      ids.push_back({statement.integer(0)});
    }
  }
  std::vector<std::vector<std::int64_t>> lists;
  for (const std::uint64_t term : terms) {
    OPWRIGHT_TRY_ASSIGN(auto list, posting(term));
    if (list.empty()) return ids;
    lists.push_back(std::move(list));
  }
  std::sort(lists.begin(), lists.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  std::vector<std::int64_t> both;
  for (std::size_t i = 1; i < lists.size(); ++i) {
    both.clear();
    std::set_intersection(lists[0].begin(), lists[0].end(), lists[i].begin(), lists[i].end(), std::back_inserter(both));
    lists[0].swap(both);
  }
  for (const std::int64_t id : lists[0]) ids.push_back({id});
  return ids;
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
  if (!found)
    return fail(ErrorCode::kBadInput,
                fmt::format("{}: pack {} is missing; the store is damaged", database_.path(), id));
  OPWRIGHT_TRY_ASSIGN(Unpacked unpacked, Unpacked::open(find_pack_.blob(0)));
  find_pack_.reset();
  if (packs_.size() >= kOpenPacks) packs_.erase(packs_.begin());
  return &packs_.emplace(id, std::move(unpacked)).first->second;
}

Result<std::vector<FormRow>> Reader::forms(ConfigId id) {
  std::vector<FormRow> rows;
  find_forms_.bind(1, id.value);
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool found, find_forms_.step());
    if (!found) return rows;
    FormRow row;
    row.id = {find_forms_.integer(0)};
    row.configuration = id;
    row.kind = static_cast<FormKind>(find_forms_.integer(1));
    row.op = find_forms_.text(2);
    const auto slot = static_cast<std::size_t>(find_forms_.integer(4));
    OPWRIGHT_TRY_ASSIGN(const Unpacked* pack, opened_pack(find_forms_.integer(3)));
    if (slot >= pack->size())
      return fail(ErrorCode::kBadInput, fmt::format("{}: form {} points outside its pack; the store is damaged",
                                                    database_.path(), row.id.value));
    row.text = pack->text(slot);
    row.error = find_forms_.text(5);
    rows.push_back(std::move(row));
  }
}

// Sources, machines and traces are few and shared by all occurrences: read once, then looked up.
Status Reader::load_names() {
  const auto load = [&](const char* sql, std::unordered_map<std::int64_t, OccurrenceRow>& rows,
                        const auto& fill) -> Status {
    OPWRIGHT_TRY_ASSIGN(Statement statement, database_.prepare(sql));
    while (true) {
      OPWRIGHT_TRY_ASSIGN(const bool row, statement.step());
      if (!row) return {};
      fill(statement, rows[statement.integer(0)]);
    }
  };
  OPWRIGHT_TRY(
      load("SELECT id, text, model, hf_model FROM source", sources_, [](const Statement& s, OccurrenceRow& row) {
        row.source = s.text(1);
        row.model = s.text(2);
        row.hf_model = s.text(3);
      }));
  OPWRIGHT_TRY(load("SELECT id, text, label FROM machine", machines_, [](const Statement& s, OccurrenceRow& row) {
    row.machine = s.text(1);
    row.machine_label = s.text(2);
  }));
  return load("SELECT id, uid FROM trace", traces_,
              [](const Statement& s, OccurrenceRow& row) { row.trace_uid = s.text(1); });
}

Result<std::vector<OccurrenceRow>> Reader::occurrences(const std::vector<FormRow>& forms) {
  std::vector<OccurrenceRow> rows;
  for (const FormRow& form : forms) {
    const std::size_t first = rows.size();
    find_occurrences_.bind(1, form.id.value);
    while (true) {
      OPWRIGHT_TRY_ASSIGN(const bool found, find_occurrences_.step());
      if (!found) break;
      const Statement& s = find_occurrences_;
      OccurrenceRow row = sources_[s.integer(0)];
      const OccurrenceRow& machine = machines_[s.integer(1)];
      row.form = form.id;
      row.machine = machine.machine;
      row.machine_label = machine.machine_label;
      row.trace_uid = traces_[s.integer(2)].trace_uid;
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
  OPWRIGHT_TRY_ASSIGN(Statement statement, database_.prepare("SELECT uid, format, facts FROM trace ORDER BY uid"));
  std::vector<TraceRow> rows;
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool row, statement.step());
    if (!row) return rows;
    rows.push_back({std::string(statement.text(0)), std::string(statement.text(1)), std::string(statement.text(2))});
  }
}

}  // namespace opwright::store
