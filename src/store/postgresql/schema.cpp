#include "store/postgresql/schema.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace opwright::store::postgresql {
namespace {

// One entry a released schema; never changed afterwards, only followed by another. Where a text names a row and has no
// bound, the index is over its digest: a row of an index has 2,704 bytes at most.
constexpr std::array<const char*, kSchemaVersion> kMigrations{R"sql(
CREATE TABLE setting (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE operation (
  id bigint PRIMARY KEY,
  name text NOT NULL                                 -- dots: ttnn.add
);
CREATE UNIQUE INDEX operation_by_name ON operation (md5(name));
CREATE TABLE configuration (                         -- one distinct operator call
  id bigint PRIMARY KEY,
  operation_id bigint NOT NULL REFERENCES operation(id),
  convention bigint NOT NULL,                        -- 1 python, 2 cpp
  key bytea NOT NULL UNIQUE                          -- SHA-256 of the canonical text
);
CREATE TABLE pack (                                  -- argument texts of up to 64 forms, zstd
  id bigint PRIMARY KEY,
  data bytea NOT NULL
);
CREATE TABLE form (                                  -- a way some trace spelled a configuration, kept to the letter
  id bigint PRIMARY KEY,
  fingerprint bytea NOT NULL UNIQUE,                 -- XXH3-128 of kind, op and text
  configuration_id bigint NOT NULL,
  kind bigint NOT NULL,
  op text NOT NULL,                                  -- as spelled: ttnn::add
  pack_id bigint NOT NULL,
  slot bigint NOT NULL,
  unparsed bigint NOT NULL,                          -- texts inside that no grammar reads
  unknown_names bigint NOT NULL,                     -- dtypes, layouts, … outside the known sets
  duplicate_keys bigint NOT NULL,                    -- keys that stood twice in an object; the last one counts
  error text NOT NULL                                -- one example of what its calls raised; '' none
);
CREATE INDEX form_by_configuration ON form (configuration_id, fingerprint);
CREATE TABLE source (                                -- the test or script that ran; id 0: not known
  id bigint PRIMARY KEY,
  text text NOT NULL,
  path text NOT NULL,
  hf_model text NOT NULL,
  model text NOT NULL                                -- short name
);
CREATE UNIQUE INDEX source_by_text ON source (md5(text));
CREATE TABLE machine (                               -- machine_info as traced; id 0: not known
  id bigint PRIMARY KEY,
  text text NOT NULL,                                -- JSON, keys sorted
  label text NOT NULL                                -- Wormhole n300 x1
);
CREATE UNIQUE INDEX machine_by_text ON machine (md5(text));
CREATE TABLE trace (
  id bigint PRIMARY KEY,
  uid text NOT NULL,                                 -- of the trace, else content:<digest>
  format text NOT NULL,
  facts text NOT NULL                                -- JSON: pytest_args, tt_kmd, timestamp, …
);
CREATE UNIQUE INDEX trace_by_uid ON trace (md5(uid));
CREATE TABLE occurrence (
  form_id bigint NOT NULL,
  source_id bigint NOT NULL,
  machine_id bigint NOT NULL,
  trace_id bigint NOT NULL,
  sweep_source_hash text NOT NULL,                   -- of a trace of a sweep, else ''
  config_hash text NOT NULL,                         -- as a file had it, else ''
  count bigint NOT NULL,                             -- calls; -1: the trace does not say
  extra text NOT NULL,                               -- other fields of the execution, JSON; '' none
  raised bigint NOT NULL                             -- how many of its calls raised
);
CREATE UNIQUE INDEX occurrence_by_name
  ON occurrence (form_id, source_id, machine_id, trace_id, md5(sweep_source_hash), md5(config_hash));
CREATE TABLE posting (                               -- inverted index: narrows a selector, decides nothing
  term bigint NOT NULL,
  first bigint NOT NULL,                             -- the first configuration of this piece of the list
  steps bytea NOT NULL,                              -- the others: differences as LEB128
  PRIMARY KEY (term, first)
);
CREATE TABLE fact (                                  -- index of numbers
  kind bigint NOT NULL,
  value bigint NOT NULL,
  first bigint NOT NULL,
  steps bytea NOT NULL,
  PRIMARY KEY (kind, value, first)
);
CREATE TABLE word (                                  -- the text that facts stand for
  kind bigint NOT NULL,
  value bigint NOT NULL,
  text text NOT NULL,
  PRIMARY KEY (kind, value)
);
CREATE TABLE card (                                  -- a copy of 64 configurations and where they were seen
  id bigint PRIMARY KEY,
  data bytea NOT NULL
);
CREATE TABLE record (                                -- their arguments, typed
  id bigint PRIMARY KEY,
  data bytea NOT NULL
);
CREATE TABLE sequence (                              -- the calls of one trace, in order
  id bigint PRIMARY KEY,
  uid text NOT NULL,                                 -- of the trace, and how it was cut out of a longer one
  digest bytea NOT NULL,                             -- SHA-256 of the native trace
  name text NOT NULL,
  command text NOT NULL,
  machine text NOT NULL,
  started text NOT NULL,                             -- UTC
  format text NOT NULL,                              -- what it was before it was a native trace
  flow bigint NOT NULL,                              -- which tensor is which: 0 not known, 1 inferred, 2 recorded
  calls bigint NOT NULL,
  operations bigint NOT NULL,
  content bigint NOT NULL,                           -- bytes of its records
  size bigint NOT NULL,                              -- bytes of the native trace
  packed bigint NOT NULL                             -- bytes of its pieces
);
CREATE UNIQUE INDEX sequence_by_uid ON sequence (md5(uid));
CREATE TABLE piece (                                 -- a part of a native trace, zstd
  sequence_id bigint NOT NULL,
  place bigint NOT NULL,                             -- from 0
  data bytea NOT NULL,
  PRIMARY KEY (sequence_id, place)
);
CREATE TABLE run (                                   -- one `opwright run` over many cases
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  uid text NOT NULL UNIQUE,
  started text NOT NULL,                             -- UTC
  ended text NOT NULL,                               -- '' while it runs, and after a kill
  host text NOT NULL,
  device text NOT NULL,
  numerics text NOT NULL,
  command text NOT NULL,
  git_commit text NOT NULL,
  version text NOT NULL,
  suite text NOT NULL,
  against text NOT NULL,
  plan text NOT NULL,                                -- JSON, as it was written
  facts text NOT NULL,                               -- JSON, as it was written
  status text NOT NULL,                              -- running, complete, interrupted
  seed bigint NOT NULL,
  planned bigint NOT NULL
);
CREATE TABLE result (                                -- how one case of a run ended; numbers are NULL where nobody measured
  run_id bigint NOT NULL REFERENCES run(id),
  place bigint NOT NULL,                             -- in the plan of its run
  vector text NOT NULL,
  key text NOT NULL,
  config_hash text NOT NULL,
  op text NOT NULL,
  suite text NOT NULL,
  line text NOT NULL,
  repeat text NOT NULL,
  dtype text NOT NULL,
  layout text NOT NULL,
  memory text NOT NULL,
  models text NOT NULL,
  calls bigint NOT NULL,
  elements bigint NOT NULL,
  distribution text NOT NULL,
  seed bigint NOT NULL,
  outcome text NOT NULL,
  reason text NOT NULL,
  argument text NOT NULL,
  blame text NOT NULL,
  evidence text NOT NULL,
  notes text NOT NULL,
  attempts bigint NOT NULL,
  pcc double precision,
  ulp double precision,
  nrmse double precision,
  bound_used double precision,
  judged bigint NOT NULL,
  verdicts text NOT NULL,                            -- JSON, as it was written
  outputs text NOT NULL,                             -- JSON, as it was written
  fields bigint NOT NULL,
  fields_equal bigint NOT NULL,
  differences text NOT NULL,
  faults bigint NOT NULL,
  faults_noticed bigint NOT NULL,
  unnoticed text NOT NULL,
  against text NOT NULL,
  disagreement text NOT NULL,
  started text NOT NULL,
  wall_seconds double precision NOT NULL,
  device_seconds double precision NOT NULL,
  cold_seconds double precision,
  kernel_seconds double precision,
  reference_seconds double precision NOT NULL,
  l1_per_core bigint NOT NULL,
  dram bigint NOT NULL,
  host_bytes bigint NOT NULL,
  perf text NOT NULL,                                -- JSON; '' not timed
  PRIMARY KEY (run_id, place)
);
INSERT INTO source VALUES (0, '', '', '', 'unknown');
INSERT INTO machine VALUES (0, '', 'unknown');
INSERT INTO setting VALUES ('schema', '1');
)sql"};

Status set_up(Connection& connection) {
  OPWRIGHT_TRY(connection.execute("SELECT pg_advisory_xact_lock(8030606859018560629)"));  // of migrations alone
  OPWRIGHT_TRY_ASSIGN(const auto found, version_of(connection));  // another process may have been first
  std::int64_t version = found.value_or(0);
  if (version == kSchemaVersion) return {};
  if (version == 0) {
    OPWRIGHT_TRY_ASSIGN(const Rows about, connection.query("SELECT current_setting('server_encoding') IN ('UTF8', "
                                                           "'SQL_ASCII'), to_regnamespace('opwright') IS NULL"));
    if (about.integer(0, 0) == 0)
      return fail(
          ErrorCode::kUnsupported,
          fmt::format("{}: its texts are not in UTF-8; make the database with ENCODING 'UTF8'", connection.name()));
    if (about.integer(0, 1) != 0) OPWRIGHT_TRY(connection.execute("CREATE SCHEMA opwright"));
  }
  // The tables belong to whom the schema belongs to, whichever of its administrators makes them (roles.sql).
  OPWRIGHT_TRY_ASSIGN(const Rows owner,
                      connection.query("SELECT quote_ident(r.rolname) FROM pg_namespace n JOIN pg_roles r ON r.oid = "
                                       "n.nspowner WHERE n.nspname = 'opwright' AND r.rolname <> current_user AND "
                                       "pg_has_role(n.nspowner, 'MEMBER')"));
  if (owner.count() == 1) OPWRIGHT_TRY(connection.execute("SET LOCAL ROLE " + owner.text(0, 0)));
  for (; version < kSchemaVersion; ++version)
    OPWRIGHT_TRY(connection.execute(kMigrations[static_cast<std::size_t>(version)]));
  return {};
}

}  // namespace

Error no_store(const Connection& connection, std::string_view what_makes_one) {
  return {ErrorCode::kNotFound,
          fmt::format("{}: no store there; {} or name a store with --store", connection.name(), what_makes_one)};
}

Result<std::optional<std::int64_t>> version_of(Connection& connection) {
  OPWRIGHT_TRY_ASSIGN(
      const Rows seen,
      connection.query("SELECT to_regclass('opwright.setting') IS NOT NULL, count(*) FROM pg_class WHERE "
                       "relnamespace = to_regnamespace('opwright') AND relkind = 'r'"));
  if (seen.integer(0, 0) == 0) {
    if (seen.integer(0, 1) == 0) return std::nullopt;
    return fail(ErrorCode::kBadInput,
                fmt::format("{}: its schema opwright is not a store; nothing was changed, name another database with "
                            "--store",
                            connection.name()));
  }
  OPWRIGHT_TRY_ASSIGN(const Rows found, connection.query("SELECT value FROM opwright.setting WHERE name = 'schema'"));
  std::int64_t version = 0;
  if (found.count() == 1) {
    const std::string digits = found.text(0, 0);
    std::from_chars(digits.data(), digits.data() + digits.size(), version);
  }
  if (version < 1)
    return fail(
        ErrorCode::kBadInput,
        fmt::format("{}: its schema opwright does not say which version it is; restore a backup, or name another "
                    "database with --store (nothing was changed)",
                    connection.name()));
  if (version > kSchemaVersion)
    return fail(ErrorCode::kUnsupported,
                fmt::format("{}: the store was made by a newer opwright (schema {}, this build knows {}); use that one "
                            "(nothing was changed)",
                            connection.name(), version, kSchemaVersion));
  return version;
}

Status migrate(Connection& connection) {
  OPWRIGHT_TRY_ASSIGN(const auto version, version_of(connection));
  if (version == kSchemaVersion) return {};
  OPWRIGHT_TRY(connection.execute("BEGIN"));
  Status done = set_up(connection);
  if (done) done = connection.execute("COMMIT");
  if (!done && !connection.is_lost()) (void)connection.execute("ROLLBACK");
  if (!done && connection.sqlstate() == "42501")
    return fail(ErrorCode::kIo, done.error().message + "; the tables are made by the first import of an administrator");
  return done;
}

Status check_identity(Connection& connection, const std::string& identity) {
  OPWRIGHT_TRY_ASSIGN(const Rows found, connection.query("SELECT value FROM setting WHERE name = 'identity'"));
  if (found.count() == 0 || found.text(0, 0) == identity) return {};
  return fail(ErrorCode::kUnsupported,
              fmt::format("{}: its configurations are identified by '{}', this build's by '{}'; make a new store and "
                          "import this one into it (nothing was changed)",
                          connection.name(), found.text(0, 0), identity));
}

}  // namespace opwright::store::postgresql
