#include "store/sqlite/schema.h"

#include <fmt/format.h>

#include <array>

#include "base/hash.h"
#include "store/sqlite/blocks.h"
#include "store/sqlite/fact_index.h"
#include "store/sqlite/seal.h"
#include "store/sqlite/sums.h"
#include "store/sqlite/tally.h"
#include "store/sqlite/verify.h"

namespace opwright::store::sqlite {
namespace {

constexpr std::int64_t kApplicationId = 0x6f707772;       // "opwr": marks the file as ours
constexpr std::string_view kDefinitions = "definitions";  // a setting: a digest of the texts of the tables

// Runs and their results: what schema 3 added, and what is put empty in front of an older store that is read.
constexpr char kRunTables[] = R"sql(
CREATE TABLE run (                                   -- one `opwright run` over many cases
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  started TEXT NOT NULL,                             -- UTC
  ended TEXT NOT NULL,                               -- '' while it runs, and after a kill
  host TEXT NOT NULL,
  device TEXT NOT NULL,
  numerics TEXT NOT NULL,
  command TEXT NOT NULL,
  git_commit TEXT NOT NULL,
  version TEXT NOT NULL,
  suite TEXT NOT NULL,
  against TEXT NOT NULL,                             -- the second device of a differential run, else ''
  plan TEXT NOT NULL,                                -- JSON: what decides which cases the run has
  facts TEXT NOT NULL,                               -- JSON: software, machine, options
  status TEXT NOT NULL,                              -- running, complete, interrupted
  seed INTEGER NOT NULL,
  planned INTEGER NOT NULL                           -- cases
);
CREATE TABLE result (                                -- how one case of a run ended; numbers are NULL where nobody measured
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES run(id),
  place INTEGER NOT NULL,                            -- in the plan of its run
  vector TEXT NOT NULL,
  key TEXT NOT NULL,                                 -- of the configuration, hex; '' none
  op TEXT NOT NULL,
  suite TEXT NOT NULL,
  line TEXT NOT NULL,
  repeat TEXT NOT NULL,
  dtype TEXT NOT NULL,
  layout TEXT NOT NULL,
  memory TEXT NOT NULL,
  models TEXT NOT NULL,
  calls INTEGER NOT NULL,
  elements INTEGER NOT NULL,
  distribution TEXT NOT NULL,
  seed INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  reason TEXT NOT NULL,
  argument TEXT NOT NULL,
  blame TEXT NOT NULL,
  evidence TEXT NOT NULL,
  notes TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  pcc REAL,                                          -- the text 'nan' where it is none: SQL's NULL means not judged
  ulp REAL,
  nrmse REAL,
  bound_used REAL,
  judged INTEGER NOT NULL,
  verdicts TEXT NOT NULL,                            -- JSON
  outputs TEXT NOT NULL,                             -- JSON
  fields INTEGER NOT NULL,
  fields_equal INTEGER NOT NULL,
  differences TEXT NOT NULL,
  faults INTEGER NOT NULL,
  faults_noticed INTEGER NOT NULL,
  unnoticed TEXT NOT NULL,
  against TEXT NOT NULL,                             -- outcome on the second device of a differential run, else ''
  disagreement TEXT NOT NULL,
  started TEXT NOT NULL,
  wall_seconds REAL NOT NULL,
  device_seconds REAL NOT NULL,
  cold_seconds REAL,
  kernel_seconds REAL,
  reference_seconds REAL NOT NULL,
  l1_per_core INTEGER NOT NULL,
  dram INTEGER NOT NULL,
  host_bytes INTEGER NOT NULL,
  UNIQUE (run_id, place)
);)sql";

// What schema 4 added to them.
constexpr char kConfigHashOfResults[] = R"sql(
ALTER TABLE result ADD COLUMN config_hash TEXT NOT NULL DEFAULT '';   -- as the vector had it; '' none
)sql";

// What schema 9 added: times of runs with --perf. Checksums of older rows stay as they are (tables.h: last_since).
constexpr char kPerfOfResults[] = R"sql(
ALTER TABLE result ADD COLUMN perf TEXT NOT NULL DEFAULT '';          -- JSON; '' not timed
)sql";

// What schema 5 added: a checksum in every row, and how many rows there are with which checksums together. seal() fills
// them in.
constexpr char kChecksums[] = R"sql(
ALTER TABLE operation ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;      -- of the other columns: store/sums.h
ALTER TABLE configuration ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pack ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE form ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE source ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE machine ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE trace ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE occurrence ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE posting ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE setting ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE result ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
CREATE TABLE tally (                                 -- groups of rows: store/tables.h
  part INTEGER NOT NULL,                             -- the table, or the index
  chunk INTEGER NOT NULL,                            -- the group
  rows INTEGER NOT NULL,
  total INTEGER NOT NULL,                            -- the sums of its rows added up, without carry
  sum INTEGER NOT NULL,                              -- of this row
  PRIMARY KEY (part, chunk)
) WITHOUT ROWID;
)sql";

// What schema 6 added: the calls of a trace in their order. What is put empty in front of an older store that is read.
constexpr char kSequenceTables[] = R"sql(
CREATE TABLE sequence (                              -- the calls of one trace, in order
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,                          -- of the trace, and how it was cut out of a longer one
  digest BLOB NOT NULL,                              -- SHA-256 of the native trace
  name TEXT NOT NULL,
  command TEXT NOT NULL,
  machine TEXT NOT NULL,                             -- machine_info as traced, JSON
  started TEXT NOT NULL,                             -- UTC
  format TEXT NOT NULL,                              -- what it was before it was a native trace
  flow INTEGER NOT NULL,                             -- which tensor is which: 0 not known, 1 inferred, 2 recorded
  calls INTEGER NOT NULL,
  operations INTEGER NOT NULL,
  content INTEGER NOT NULL,                          -- bytes of its records
  size INTEGER NOT NULL,                             -- bytes of the native trace
  packed INTEGER NOT NULL,                           -- bytes of its pieces
  sum INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE piece (                                 -- a part of a native trace, zstd
  id INTEGER PRIMARY KEY,
  sequence_id INTEGER NOT NULL REFERENCES sequence(id) DEFERRABLE INITIALLY DEFERRED,
  place INTEGER NOT NULL,                            -- from 0
  data BLOB NOT NULL,
  sum INTEGER NOT NULL DEFAULT 0,
  UNIQUE (sequence_id, place)
);
)sql";

// What schema 7 added: the index of numbers. Configurations of an older store have none: the setting kFactsFrom says
// so.
constexpr char kFactTables[] = R"sql(
CREATE TABLE fact (                                  -- index of numbers: narrows a selector, decides nothing
  kind INTEGER NOT NULL,                             -- what the number is
  value INTEGER NOT NULL,
  first INTEGER NOT NULL,                            -- the first configuration of this piece of the list
  steps BLOB NOT NULL,                               -- the others: differences as LEB128
  sum INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (kind, value, first)
) WITHOUT ROWID;
CREATE TABLE word (                                  -- the text that facts stand for
  kind INTEGER NOT NULL,
  value INTEGER NOT NULL,
  text TEXT NOT NULL,
  sum INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (kind, value)
) WITHOUT ROWID;
)sql";

// What schema 8 added: what questions ask of configurations, 64 in a row (block.h).
constexpr char kBlockTables[] = R"sql(
CREATE TABLE card (                                  -- a copy: operation, convention, key, where and how often seen
  id INTEGER PRIMARY KEY,                            -- of a group of 64 configurations
  data BLOB NOT NULL,
  sum INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE record (                                -- their arguments, typed; not of configurations of older schemas
  id INTEGER PRIMARY KEY,
  data BLOB NOT NULL,
  sum INTEGER NOT NULL DEFAULT 0
);
)sql";

// One entry a released schema; never changed afterwards, only followed by another.
constexpr std::array<const char*, kSchemaVersion> kMigrations{R"sql(
CREATE TABLE operation (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE                          -- dots: ttnn.add
);
CREATE TABLE configuration (                         -- one distinct operator call
  id INTEGER PRIMARY KEY,
  operation_id INTEGER NOT NULL REFERENCES operation(id),
  convention INTEGER NOT NULL,                       -- 1 python, 2 cpp
  key BLOB NOT NULL UNIQUE                           -- SHA-256 of the canonical text
);
CREATE TABLE pack (                                  -- argument texts of up to 64 forms, zstd
  id INTEGER PRIMARY KEY,
  data BLOB NOT NULL
);
CREATE TABLE form (                                  -- a way some trace spelled a configuration, kept to the letter
  id INTEGER PRIMARY KEY,
  fingerprint BLOB NOT NULL UNIQUE,                  -- XXH3-128 of kind, op and text
  configuration_id INTEGER NOT NULL REFERENCES configuration(id),
  kind INTEGER NOT NULL,
  op TEXT NOT NULL,                                  -- as spelled: ttnn::add
  pack_id INTEGER NOT NULL REFERENCES pack(id),
  slot INTEGER NOT NULL,
  unparsed INTEGER NOT NULL,                         -- texts inside that no grammar reads
  unknown_names INTEGER NOT NULL,                    -- dtypes, layouts, … outside the known sets
  duplicate_keys INTEGER NOT NULL                    -- keys that stood twice in an object; the last one counts
);
CREATE INDEX form_by_configuration ON form(configuration_id);
CREATE TABLE source (                                -- the test or script that ran; id 0: not known
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE,
  path TEXT NOT NULL,
  hf_model TEXT,
  model TEXT NOT NULL                                -- short name
);
CREATE TABLE machine (                               -- machine_info as traced; id 0: not known
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE,                         -- JSON, keys sorted
  label TEXT NOT NULL                                -- Wormhole n300 x1
);
CREATE TABLE trace (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,                          -- of the trace, else content:<digest>
  format TEXT NOT NULL,
  facts TEXT NOT NULL                                -- JSON: pytest_args, tt_kmd, timestamp, …
);
CREATE TABLE occurrence (
  form_id INTEGER NOT NULL REFERENCES form(id),
  source_id INTEGER NOT NULL REFERENCES source(id),
  machine_id INTEGER NOT NULL REFERENCES machine(id),
  trace_id INTEGER NOT NULL REFERENCES trace(id),
  sweep_source_hash TEXT NOT NULL,                   -- of a trace of a sweep, else ''
  config_hash TEXT NOT NULL,                         -- as a file had it, else ''; copies of one trace with other hashes
                                                     -- are rows of their own, and count once
  count INTEGER,                                     -- calls; NULL: the trace does not say
  extra TEXT,                                        -- other fields of the execution, JSON
  PRIMARY KEY (form_id, source_id, machine_id, trace_id, sweep_source_hash, config_hash)
) WITHOUT ROWID;
CREATE VIEW counted AS                               -- calls: copies of a trace that differ in hashes only count once
  SELECT form_id, source_id, machine_id, trace_id, sweep_source_hash, max(count) AS count
  FROM occurrence GROUP BY form_id, source_id, machine_id, trace_id, sweep_source_hash;
CREATE TABLE posting (                               -- inverted index: narrows a selector, decides nothing
  term INTEGER NOT NULL,
  first INTEGER NOT NULL,                            -- the first configuration of this piece of the list
  steps BLOB NOT NULL,                               -- the others: differences as LEB128
  PRIMARY KEY (term, first)
) WITHOUT ROWID;
CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO source VALUES (0, '', '', NULL, 'unknown');
INSERT INTO machine VALUES (0, '', 'unknown');
)sql",
                                                              R"sql(
ALTER TABLE occurrence ADD COLUMN raised INTEGER NOT NULL DEFAULT 0;  -- how many of its calls raised
ALTER TABLE form ADD COLUMN error TEXT;              -- one example of what its calls raised; NULL: none, or not told
DROP VIEW counted;
CREATE VIEW counted AS                               -- calls: copies of a trace that differ in hashes only count once
  SELECT form_id, source_id, machine_id, trace_id, sweep_source_hash, max(count) AS count, max(raised) AS raised
  FROM occurrence GROUP BY form_id, source_id, machine_id, trace_id, sweep_source_hash;
)sql", kRunTables, kConfigHashOfResults, kChecksums, kSequenceTables, kFactTables, kBlockTables, kPerfOfResults};

// For reading only: the views through which a store of schema 1, 2, … looks like one of kSchemaVersion. A new schema
// adds an entry and extends the others.
constexpr std::array<const char*, kSchemaVersion - 1> kReadAsCurrent{R"sql(
CREATE TEMP VIEW occurrence AS SELECT *, 0 AS raised FROM main.occurrence;
CREATE TEMP VIEW form AS SELECT *, NULL AS error FROM main.form;
CREATE TEMP VIEW counted AS SELECT *, 0 AS raised FROM main.counted;
)sql", "", R"sql(
CREATE TEMP VIEW result AS SELECT *, '' AS config_hash, '' AS perf FROM main.result;
)sql", R"sql(
CREATE TEMP VIEW result AS SELECT *, '' AS perf FROM main.result;
)sql", "", "", "", ""};

// The same tables for this connection only, and empty.
std::string temporary(std::string_view tables) {
  constexpr std::string_view kCreate = "CREATE TABLE";
  std::string sql(tables);
  // An index of a table of this connection is named by its place, not by a word; an empty table needs none.
  for (std::size_t at = sql.find("CREATE INDEX"); at != std::string::npos; at = sql.find("CREATE INDEX"))
    sql.erase(at, sql.find(';', at) + 1 - at);
  for (std::size_t at = sql.find(kCreate); at != std::string::npos; at = sql.find(kCreate, at + 1))
    sql.replace(at, kCreate.size(), "CREATE TEMP TABLE");
  return sql;
}

Result<std::int64_t> version_of(Database& database) {
  // One statement, so one state of the file: another process may be making the store right now.
  OPWRIGHT_TRY_ASSIGN(Statement look, database.prepare("SELECT count(*), coalesce(sum(name = 'tally'), 0),"
                                                       " (SELECT user_version FROM pragma_user_version),"
                                                       " (SELECT application_id FROM pragma_application_id)"
                                                       " FROM main.sqlite_master"));
  OPWRIGHT_TRY(look.step());
  const std::int64_t tables = look.integer(0), summed = look.integer(1), version = look.integer(2),
                     application = look.integer(3);
  if (application != kApplicationId && tables > 0) {
    return fail(
        ErrorCode::kBadInput,
        fmt::format(
            "{}: an SQLite database, but not an opwright store; nothing was changed, name another file with --store",
            database.path()));
  }
  if (version > kSchemaVersion) {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("{}: store schema {}, this build knows up to {}; use a newer opwright (nothing was changed)",
                    database.path(), version, kSchemaVersion));
  }
  if (version < kFirstSummedSchema && summed > 0)
    return fail(
        damage(database.path(), fmt::format("it says that its schema is {}, but has tables of a later one", version)));
  return tables == 0 ? 0 : version;
}

// The texts of our tables, indexes and views; what else somebody put into the file is not asked about.
Result<std::string> definitions_digest(Database& database) {
  OPWRIGHT_TRY_ASSIGN(
      Statement find,
      database.prepare("SELECT type, name, tbl_name, sql FROM main.sqlite_master WHERE name IN ('operation',"
                       " 'configuration', 'pack', 'form', 'form_by_configuration', 'source', 'machine', 'trace',"
                       " 'occurrence', 'counted', 'posting', 'setting', 'run', 'result', 'tally', 'sequence', 'piece', "
                       "'fact', 'word', 'card', 'record') "
                       "ORDER BY name, type"));
  StreamHash hash;
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool row, find.step());
    if (!row) return to_hex(hash.digest());
    for (int column = 0; column < 4; ++column) {
      hash.add(find.text(column));
      hash.add("\n");
    }
  }
}

// A store that has checksums keeps those it has: whatever is damaged in it stays visible.
Status note_definitions(Database& database, const std::string& definitions) {
  Tally tally;
  Verifier verifier;
  std::int64_t old_sum = 0;
  OPWRIGHT_TRY(verifier.read(database, Part::kSetting, 0, [&](const Statement& row) -> Status {
    if (row.text(0) == kDefinitions) old_sum = row.integer(2);
    return {};
  }));
  OPWRIGHT_TRY_ASSIGN(Statement change, database.prepare(update_summed(Part::kSetting)));
  SummedRow row(change, Part::kSetting);
  row << kDefinitions << definitions;
  tally.replace(Part::kSetting, 0, old_sum, row.bind_sum());
  OPWRIGHT_TRY(change.run());
  return tally.write(database);
}

// Configurations that are there when the tables of facts come have none.
Status note_facts_from(Database& database, bool has_sums) {
  OPWRIGHT_TRY_ASSIGN(const std::int64_t last, database.query_integer("SELECT max(id) FROM configuration"));
  OPWRIGHT_TRY_ASSIGN(Statement note, database.prepare(insert_summed(Part::kSetting)));
  SummedRow row(note, Part::kSetting);
  const std::string from = std::to_string(last + 1);
  row << std::string_view(kFactsFrom) << from;
  const std::int64_t sum = row.bind_sum();
  OPWRIGHT_TRY(note.run());
  if (!has_sums) return {};  // all are counted later
  Tally tally;
  tally.add(Part::kSetting, 0, sum);
  return tally.write(database);
}

Status check_before_sealing(Database& database) {
  OPWRIGHT_TRY_ASSIGN(Statement check, database.prepare("PRAGMA integrity_check(1)"));
  OPWRIGHT_TRY_ASSIGN(const bool row, check.step());
  if (row && check.text(0) != "ok") return fail(damage(database.path(), std::string(check.text(0))));
  return {};
}

}  // namespace

Status check_version(Database& database) {
  OPWRIGHT_TRY_ASSIGN(const std::int64_t version, version_of(database));
  if (version == 0)
    return fail(ErrorCode::kNotFound,
                fmt::format("{}: the store is empty; import a trace first: opwright import PATH", database.path()));
  return {};
}

Status read_as_current(Database& database) {
  OPWRIGHT_TRY_ASSIGN(const std::int64_t version, version_of(database));
  if (version < 1 || version == kSchemaVersion) return {};
  OPWRIGHT_TRY(database.execute(kReadAsCurrent[static_cast<std::size_t>(version - 1)]));
  if (version < 6) OPWRIGHT_TRY(database.execute(temporary(kSequenceTables)));
  if (version < kFirstSchemaWithFacts) OPWRIGHT_TRY(database.execute(temporary(kFactTables)));
  if (version < kFirstSchemaWithBlocks) OPWRIGHT_TRY(database.execute(temporary(kBlockTables)));
  return version < 3 ? database.execute(temporary(kRunTables) + kConfigHashOfResults + kPerfOfResults) : Status();
}

Status check_definitions(Database& database) {
  OPWRIGHT_TRY_ASSIGN(const std::int64_t version, database.query_integer("PRAGMA user_version"));
  if (version < kFirstSummedSchema) return {};
  std::string written;
  Verifier verifier;
  OPWRIGHT_TRY(verifier.read(database, Part::kSetting, 0, [&](const Statement& row) -> Status {
    if (row.text(0) == kDefinitions) written = row.text(1);
    return {};
  }));
  OPWRIGHT_TRY_ASSIGN(const std::string found, definitions_digest(database));
  if (found == written) return {};
  return fail(damage(database.path(), "the definitions of its tables are not those that were written"));
}

Status check_identity(Database& database, const std::string& identity) {
  OPWRIGHT_TRY_ASSIGN(Statement find, database.prepare("SELECT value FROM setting WHERE name = 'identity'"));
  OPWRIGHT_TRY_ASSIGN(const bool known, find.step());
  if (!known || find.text(0) == identity) return {};
  return fail(
      ErrorCode::kUnsupported,
      fmt::format("{}: its configurations are identified by '{}', this build's by '{}'; make a new store and import "
                  "this one into it (nothing was changed)",
                  database.path(), find.text(0), identity));
}

Status migrate(Database& database) {
  OPWRIGHT_TRY_ASSIGN(std::int64_t version, version_of(database));
  if (version == kSchemaVersion) return {};
  OPWRIGHT_TRY(database.execute("BEGIN IMMEDIATE"));
  const auto upgrade = [&]() -> Status {
    OPWRIGHT_TRY_ASSIGN(version, version_of(database));  // another process may have been first
    if (version == kSchemaVersion) return database.execute("COMMIT");
    const bool has_sums = version >= kFirstSummedSchema, is_old = version > 0 && version < kFirstSchemaWithFacts;
    const bool has_blocks = version >= kFirstSchemaWithBlocks;
    if (has_sums)
      OPWRIGHT_TRY(check_definitions(database));
    else if (version > 0)
      OPWRIGHT_TRY(check_before_sealing(database));
    for (; version < kSchemaVersion; ++version)
      OPWRIGHT_TRY(database.execute(kMigrations[static_cast<std::size_t>(version)]));
    OPWRIGHT_TRY_ASSIGN(const std::string definitions, definitions_digest(database));
    if (is_old) OPWRIGHT_TRY(note_facts_from(database, has_sums));
    if (has_sums) {
      OPWRIGHT_TRY(note_definitions(database, definitions));
    } else {
      OPWRIGHT_TRY_ASSIGN(Statement note, database.prepare("INSERT INTO setting(name, value) VALUES (?, ?)"));
      OPWRIGHT_TRY(note.bind(1, kDefinitions).bind(2, definitions).run());
      OPWRIGHT_TRY(seal(database));
    }
    if (!has_blocks) OPWRIGHT_TRY(write_all_cards(database));
    OPWRIGHT_TRY(database.execute(
        fmt::format("PRAGMA user_version = {}; PRAGMA application_id = {}", kSchemaVersion, kApplicationId)));
    return database.execute("COMMIT");
  };
  Status done = upgrade();
  if (!done) (void)database.execute("ROLLBACK");
  return done;
}

}  // namespace opwright::store::sqlite
