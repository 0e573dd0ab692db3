#include "store/reader.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "store/schema.h"

namespace opwright::store {
namespace {

constexpr std::size_t kOpenPacks = 16;
constexpr std::int64_t kProbe = 4096;  // rows looked at to guess which term is the rarest

}  // namespace

Result<Reader> Reader::open(const std::string& path, int wait_ms) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    return fail(ErrorCode::kNotFound, fmt::format("{}: no store there; import a trace first (opwright import PATH) or name a store with --store", path));
  }
  OPWRIGHT_TRY_ASSIGN(Database database, Database::open(path, Database::Mode::kRead, wait_ms));
  OPWRIGHT_TRY(check_version(database));
  Reader reader(std::move(database));
  Database& db = reader.database_;
  OPWRIGHT_TRY(db.execute("PRAGMA cache_size = -16384; PRAGMA mmap_size = 268435456; BEGIN"));
  OPWRIGHT_TRY_ASSIGN(reader.find_configuration_,
                      db.prepare("SELECT o.name, c.convention, c.key FROM configuration c JOIN operation o ON o.id = c.operation_id WHERE c.id = ?"));
  OPWRIGHT_TRY_ASSIGN(reader.find_forms_,
                      db.prepare("SELECT id, kind, op, config_hash, sweep_source_hash, pack_id, slot FROM form WHERE configuration_id = ? ORDER BY fingerprint"));
  OPWRIGHT_TRY_ASSIGN(reader.find_occurrences_,
                      db.prepare("SELECT x.form_id, s.text, s.model, s.hf_model, m.text, m.label, t.uid, x.count, x.extra FROM form f"
                                 " JOIN occurrence x ON x.form_id = f.id JOIN source s ON s.id = x.source_id JOIN machine m ON m.id = x.machine_id"
                                 " JOIN trace t ON t.id = x.trace_id WHERE f.configuration_id = ? ORDER BY f.fingerprint, s.text, m.text, t.uid"));
  OPWRIGHT_TRY_ASSIGN(reader.find_pack_, db.prepare("SELECT data FROM pack WHERE id = ?"));
  return reader;
}

Result<Totals> Reader::totals() {
  Totals totals;
  OPWRIGHT_TRY_ASSIGN(Statement statement,
                      database_.prepare("SELECT (SELECT count(*) FROM operation), (SELECT count(*) FROM configuration), (SELECT count(*) FROM form),"
                                        " (SELECT coalesce(sum(coalesce(count, 1)), 0) FROM occurrence), (SELECT count(*) FROM occurrence WHERE count IS NULL),"
                                        " (SELECT count(*) FROM source WHERE id > 0), (SELECT count(*) FROM machine WHERE id > 0), (SELECT count(*) FROM trace)"));
  OPWRIGHT_TRY_ASSIGN(const bool row, statement.step());
  if (row) {
    totals = {statement.integer(0), statement.integer(1), statement.integer(2), statement.integer(3), statement.integer(4),
              statement.integer(5), statement.integer(6), statement.integer(7), 0, kSchemaVersion};
  }
  OPWRIGHT_TRY_ASSIGN(const std::int64_t pages, database_.query_integer("PRAGMA page_count"));
  OPWRIGHT_TRY_ASSIGN(const std::int64_t page, database_.query_integer("PRAGMA page_size"));
  totals.bytes = pages * page;
  return totals;
}

Status Reader::check() {
  OPWRIGHT_TRY_ASSIGN(Statement quick, database_.prepare("PRAGMA quick_check(1)"));
  OPWRIGHT_TRY_ASSIGN(const bool row, quick.step());
  if (row && quick.text(0) != "ok") return fail(ErrorCode::kBadInput, fmt::format("{}: the store is damaged: {}", database_.path(), quick.text(0)));
  OPWRIGHT_TRY_ASSIGN(Statement keys, database_.prepare("PRAGMA foreign_key_check"));
  OPWRIGHT_TRY_ASSIGN(const bool orphan, keys.step());
  if (orphan) return fail(ErrorCode::kBadInput, fmt::format("{}: a row of table {} points nowhere; the store is damaged", database_.path(), keys.text(0)));
  return {};
}

Result<std::vector<OperationRow>> Reader::operations() {
  OPWRIGHT_TRY_ASSIGN(Statement statement,
                      database_.prepare("SELECT o.name, count(DISTINCT c.id), coalesce(sum(coalesce(x.count, 1)), 0), sum(x.form_id IS NOT NULL AND x.count IS NULL),"
                                        " count(DISTINCT nullif(x.source_id, 0)) FROM operation o JOIN configuration c ON c.operation_id = o.id"
                                        " LEFT JOIN form f ON f.configuration_id = c.id LEFT JOIN occurrence x ON x.form_id = f.id GROUP BY o.id ORDER BY 2 DESC, 1"));
  std::vector<OperationRow> rows;
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool row, statement.step());
    if (!row) return rows;
    rows.push_back({std::string(statement.text(0)), statement.integer(1), statement.integer(2), statement.integer(3), statement.integer(4)});
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

Result<std::vector<ConfigId>> Reader::candidates(std::span<const std::uint64_t> terms) {
  std::vector<ConfigId> ids;
  std::string sql = "SELECT id FROM configuration ORDER BY id";
  std::vector<std::int64_t> order;
  if (!terms.empty()) {
    OPWRIGHT_TRY_ASSIGN(Statement probe, database_.prepare("SELECT count(*) FROM (SELECT 1 FROM posting WHERE term = ? LIMIT ?)"));
    std::vector<std::pair<std::int64_t, std::int64_t>> rarest;
    for (const std::uint64_t term : terms) {
      probe.bind(1, static_cast<std::int64_t>(term)).bind(2, kProbe);
      OPWRIGHT_TRY(probe.step());
      rarest.emplace_back(probe.integer(0), static_cast<std::int64_t>(term));
      probe.reset();
    }
    std::sort(rarest.begin(), rarest.end());
    if (rarest.front().first == 0) return ids;
    sql = "SELECT p0.configuration_id FROM posting p0";
    for (std::size_t i = 0; i < rarest.size(); ++i) {
      order.push_back(rarest[i].second);
      // CROSS JOIN keeps our order: the rarest term drives.
      if (i > 0) sql += fmt::format(" CROSS JOIN posting p{0} ON p{0}.term = ?{1} AND p{0}.configuration_id = p0.configuration_id", i, i + 1);
    }
    sql += " WHERE p0.term = ?1 ORDER BY 1";
  }
  OPWRIGHT_TRY_ASSIGN(Statement statement, database_.prepare(sql));
  for (std::size_t i = 0; i < order.size(); ++i) statement.bind(static_cast<int>(i) + 1, order[i]);
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool row, statement.step());
    if (!row) return ids;
    ids.push_back({statement.integer(0)});
  }
}

Result<ConfigRow> Reader::configuration(ConfigId id) {
  find_configuration_.bind(1, id.value);
  OPWRIGHT_TRY_ASSIGN(const bool found, find_configuration_.step());
  if (!found) return fail(ErrorCode::kNotFound, fmt::format("{}: no configuration {}", database_.path(), id.value));
  ConfigRow row{id, std::string(find_configuration_.text(0)), static_cast<Convention>(find_configuration_.integer(1)), {}};
  const std::string_view key = find_configuration_.blob(2);
  std::memcpy(row.key.data(), key.data(), std::min(key.size(), row.key.size()));
  find_configuration_.reset();
  return row;
}

Result<const Unpacked*> Reader::opened_pack(std::int64_t id) {
  if (const auto found = packs_.find(id); found != packs_.end()) return &found->second;
  find_pack_.bind(1, id);
  OPWRIGHT_TRY_ASSIGN(const bool found, find_pack_.step());
  if (!found) return fail(ErrorCode::kBadInput, fmt::format("{}: pack {} is missing; the store is damaged", database_.path(), id));
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
    row.config_hash = find_forms_.text(3);
    row.sweep_source_hash = find_forms_.text(4);
    const auto slot = static_cast<std::size_t>(find_forms_.integer(6));
    OPWRIGHT_TRY_ASSIGN(const Unpacked* pack, opened_pack(find_forms_.integer(5)));
    if (slot >= pack->size()) return fail(ErrorCode::kBadInput, fmt::format("{}: form {} points outside its pack; the store is damaged", database_.path(), row.id.value));
    row.text = pack->text(slot);
    rows.push_back(std::move(row));
  }
}

Result<std::vector<OccurrenceRow>> Reader::occurrences(ConfigId id) {
  std::vector<OccurrenceRow> rows;
  find_occurrences_.bind(1, id.value);
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool found, find_occurrences_.step());
    if (!found) return rows;
    const Statement& s = find_occurrences_;
    OccurrenceRow row;
    row.form = {s.integer(0)};
    row.source = s.text(1);
    row.model = s.text(2);
    row.hf_model = s.text(3);
    row.machine = s.text(4);
    row.machine_label = s.text(5);
    row.trace_uid = s.text(6);
    row.count = s.is_null(7) ? kUncounted : s.integer(7);
    row.extra = s.text(8);
    rows.push_back(std::move(row));
  }
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

Result<std::vector<std::pair<std::string, std::int64_t>>> Reader::pairs(std::string_view sql) {
  OPWRIGHT_TRY_ASSIGN(Statement statement, database_.prepare(sql));
  std::vector<std::pair<std::string, std::int64_t>> rows;
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool row, statement.step());
    if (!row) return rows;
    rows.emplace_back(statement.text(0), statement.integer(1));
  }
}

Result<std::vector<std::pair<std::string, std::int64_t>>> Reader::sources() {
  return pairs("SELECT s.text, count(DISTINCT f.configuration_id) FROM source s JOIN occurrence x ON x.source_id = s.id JOIN form f ON f.id = x.form_id"
               " GROUP BY s.id ORDER BY 2 DESC, 1");
}

Result<std::vector<std::pair<std::string, std::int64_t>>> Reader::machines() {
  return pairs("SELECT m.label, count(DISTINCT f.configuration_id) FROM machine m JOIN occurrence x ON x.machine_id = m.id JOIN form f ON f.id = x.form_id"
               " GROUP BY m.label ORDER BY 2 DESC, 1");
}

}  // namespace opwright::store
