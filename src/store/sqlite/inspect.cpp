#include <fmt/format.h>

#include "store/encoding/pack.h"
#include "store/encoding/posting_list.h"
#include "store/sqlite/blocks.h"
#include "store/sqlite/fact_index.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/sequences.h"
#include "store/sqlite/verify.h"
#include "store/sqlite_door.h"

namespace opwright::store::sqlite {
namespace {

// Runs one look; what ends it early is damage too.
template <class Look>
void look(Inspection& inspection, std::string_view at, const Look& work) {
  if (const Status done = work(); !done) inspection.add(fmt::format("{}: {}", at, done.error().message));
}

Status list_rows(Database& database, const std::string& sql, const std::function<void(const Statement&)>& use) {
  OPWRIGHT_TRY_ASSIGN(Statement statement, database.prepare(sql));
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool row, statement.step());
    if (!row) return {};
    use(statement);
  }
}

void look_at_rows(Database& database, Inspection& inspection) {
  look(inspection, "definitions", [&] { return check_definitions(database); });
  Verifier verifier;
  verifier.set_schema(inspection.schema);
  verifier.tell_damage_to([&](const std::string& what) { inspection.add(what); });
  for (const TablePart& part : table_parts()) {
    const auto groups = Verifier::groups(database, part.part);
    if (!groups) {
      inspection.add(fmt::format("table tally: {}", groups.error().message));
      continue;
    }
    for (const std::int64_t group : *groups)
      look(inspection, fmt::format("table {}", part.table),
           [&] { return verifier.read(database, part.part, group, {}); });
    look(inspection, fmt::format("table {}", part.table), [&] { return verifier.check_count(database, part.part); });
  }
  inspection.rows = verifier.rows_verified();
}

void look_inside(Database& database, Inspection& inspection) {
  look(inspection, "references", [&] {
    return list_rows(database, "PRAGMA foreign_key_check", [&](const Statement& row) {
      inspection.add(fmt::format("table {}, row {}: it points to a row of {} that is not there", row.text(0),
                                 row.text(1), row.text(2)));
    });
  });
  look(inspection, "table pack", [&] {
    return list_rows(database, "SELECT id, data, (SELECT max(slot) FROM form WHERE pack_id = pack.id) FROM pack",
                     [&](const Statement& row) {
                       const auto opened = Unpacked::open(row.blob(1));
                       if (!opened)
                         inspection.add(fmt::format("table pack, row {}: it cannot be opened", row.integer(0)));
                       else if (row.integer(2) >= static_cast<std::int64_t>(opened->size()))
                         inspection.add(fmt::format("table pack, row {}: a form points outside of it", row.integer(0)));
                     });
  });
  look(inspection, "table posting", [&] {
    std::vector<std::int64_t> ids;
    return list_rows(database, "SELECT term, first, steps FROM posting", [&](const Statement& row) {
      ids.clear();
      if (!decode_ids(row.integer(1), row.blob(2), ids))
        inspection.add(fmt::format("table posting, row with term {}: its list cannot be read", row.integer(0)));
    });
  });
  if (inspection.schema < kFirstSchemaWithFacts) return;
  look(inspection, "table fact", [&] {
    std::vector<std::int64_t> ids;
    return list_rows(database, "SELECT kind, first, steps FROM fact", [&](const Statement& row) {
      ids.clear();
      if (!decode_ids(row.integer(1), row.blob(2), ids))
        inspection.add(fmt::format("table fact, row with kind {}: its list cannot be read", row.integer(0)));
    });
  });
}

// What the checksums of single rows do not say: the pieces of a trace are that trace.
void look_at_sequences(Database& database, Inspection& inspection) {
  look(inspection, "table sequence", [&]() -> Status {
    Verifier verifier;  // rows were verified before
    verifier.tell_damage_to([](const std::string&) {});
    OPWRIGHT_TRY_ASSIGN(const std::vector<SequenceRow> rows, read_sequences(database, verifier));
    for (const SequenceRow& row : rows) {
      const auto bytes = read_trace_bytes(database, verifier, row);
      if (bytes) continue;
      inspection.add(bytes.error().code == ErrorCode::kUnsupported
                         ? bytes.error().message
                         : fmt::format("table sequence, row {}: its pieces are not its trace", row.id));
    }
    return {};
  });
}

}  // namespace

Result<Inspection> inspect(const std::string& path, int wait_ms, Depth depth) {
  OPWRIGHT_TRY_ASSIGN(Database database, Database::open(path, Database::Mode::kRead, wait_ms));
  Inspection inspection;
  OPWRIGHT_TRY(database.execute("PRAGMA temp_store = MEMORY; BEGIN"));
  OPWRIGHT_TRY(check_version(database));
  OPWRIGHT_TRY_ASSIGN(inspection.schema, database.query_integer("PRAGMA user_version"));
  inspection.has_checksums = inspection.schema >= kFirstSummedSchema;
  look(inspection, "file", [&] {
    return list_rows(database, depth == Depth::kRows ? "PRAGMA quick_check(100)" : "PRAGMA integrity_check(100)",
                     [&](const Statement& row) {
                       if (row.text(0) != "ok") inspection.add(fmt::format("file: {}", row.text(0)));
                     });
  });
  if (inspection.has_checksums) {
    OPWRIGHT_TRY(read_as_current(database));  // its tables are all of ours; those it does not have are empty
    look_at_rows(database, inspection);
    if (depth == Depth::kEverything) look_at_sequences(database, inspection);
    if (depth == Depth::kEverything && inspection.schema >= kFirstSchemaWithBlocks)
      look(inspection, "table card",
           [&] { return compare_cards(database, [&](const std::string& what) { inspection.add(what); }); });
  }
  if (depth == Depth::kEverything || !inspection.has_checksums) look_inside(database, inspection);
  return inspection;
}

Status for_each_posting(const std::string& path, int wait_ms,
                        const std::function<void(std::uint64_t, std::int64_t)>& use) {
  OPWRIGHT_TRY_ASSIGN(Database database, Database::open(path, Database::Mode::kRead, wait_ms));
  std::vector<std::int64_t> ids;
  bool sound = true;
  OPWRIGHT_TRY(list_rows(database, "SELECT term, first, steps FROM posting", [&](const Statement& row) {
    ids.clear();
    sound = decode_ids(row.integer(1), row.blob(2), ids) && sound;
    for (const std::int64_t id : ids) use(static_cast<std::uint64_t>(row.integer(0)), id);
  }));
  return sound ? Status() : fail(damage(path, "table posting: a list cannot be read"));
}

Status for_each_parts(const std::string& path, int wait_ms,
                      const std::function<void(std::int64_t, const std::string&)>& use) {
  OPWRIGHT_TRY_ASSIGN(Database database, Database::open(path, Database::Mode::kRead, wait_ms));
  OPWRIGHT_TRY_ASSIGN(const std::int64_t schema, database.query_integer("PRAGMA user_version"));
  return schema < kFirstSchemaWithBlocks ? Status() : for_each_parts(database, use);
}

Result<std::int64_t> for_each_fact(const std::string& path, int wait_ms, const std::function<void(const Fact&)>& use) {
  OPWRIGHT_TRY_ASSIGN(Database database, Database::open(path, Database::Mode::kRead, wait_ms));
  OPWRIGHT_TRY_ASSIGN(const std::int64_t schema, database.query_integer("PRAGMA user_version"));
  Verifier verifier;
  FactReader facts;
  OPWRIGHT_TRY(facts.prepare(database, verifier, schema));
  if (schema < kFirstSchemaWithFacts) return facts.first();
  std::vector<std::int64_t> ids;
  bool sound = true;
  OPWRIGHT_TRY(list_rows(database, "SELECT kind, value, first, steps FROM fact", [&](const Statement& row) {
    ids.clear();
    sound = decode_ids(row.integer(2), row.blob(3), ids) && sound;
    for (const std::int64_t id : ids) use({static_cast<std::uint64_t>(row.integer(0)), row.integer(1), {id}});
  }));
  if (!sound) return fail(damage(path, "table fact: a list cannot be read"));
  return facts.first();
}

}  // namespace opwright::store::sqlite
