#include "store/postgresql/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <tuple>

#include "store/postgresql/schema.h"
#include "store/result_values.h"
#include "store/run_life.h"

namespace opwright::store::postgresql {
namespace {

constexpr std::string_view kRunColumns =
    "uid, started, ended, host, device, numerics, command, git_commit, version, suite, against, plan, facts, status, "
    "seed, planned";

// "run_id, place, …", those of model/record_fields.h.
const std::string& result_columns() {
  static const std::string kColumns = [] {
    std::array<const char*, kStoredFields + 1> columns{"run_id"};
    const CaseRecord any;
    for_each_field(any, [&](const RecordField& field, const auto&) {
      if (field.place > 0) columns.at(static_cast<std::size_t>(field.place)) = field.column;
    });
    return fmt::format("{}", fmt::join(columns, ", "));
  }();
  return kColumns;
}

const std::string& insert_result() {
  static const std::string kStatement = [] {
    std::string marks, changes;
    for (int i = 1; i <= kStoredFields + 1; ++i) marks += fmt::format("{}${}", i > 1 ? ", " : "", i);
    const CaseRecord any;
    for_each_field(any, [&](const RecordField& field, const auto&) {
      if (field.place > 1) changes += fmt::format("{0}{1} = excluded.{1}", changes.empty() ? "" : ", ", field.column);
    });
    return fmt::format("INSERT INTO result ({}) VALUES ({}) ON CONFLICT (run_id, place) DO UPDATE SET {}",
                       result_columns(), marks, changes);
  }();
  return kStatement;
}

RunRecord read_run(const Rows& rows, int row) {
  RunRecord run;
  int next = 0;
  for (std::string* text :
       {&run.uid, &run.started, &run.ended, &run.host, &run.device, &run.numerics, &run.command, &run.git_commit,
        &run.version, &run.suite, &run.against, &run.plan, &run.facts, &run.status})
    *text = rows.text(row, next++);
  run.seed = static_cast<std::uint64_t>(rows.integer(row, next++));
  run.planned = rows.integer(row, next);
  return run;
}

void take(const Rows& rows, int row, int column, std::string& value) { value = rows.text(row, column); }
void take(const Rows& rows, int row, int column, std::int64_t& value) { value = rows.integer(row, column); }
void take(const Rows& rows, int row, int column, int& value) { value = static_cast<int>(rows.integer(row, column)); }
void take(const Rows& rows, int row, int column, std::uint64_t& value) {
  value = static_cast<std::uint64_t>(rows.integer(row, column));
}
void take(const Rows& rows, int row, int column, double& value) { value = rows.real(row, column); }
void take(const Rows& rows, int row, int column, std::optional<double>& value) {
  if (rows.is_null(row, column))
    value.reset();
  else
    value = rows.real(row, column);
}

}  // namespace

// ---- writing

Result<std::unique_ptr<store::ResultsWriter>> ResultsWriter::open(const Address& address, int wait_ms,
                                                                  Durability durability) {
  OPWRIGHT_TRY_ASSIGN(Connection connection, Connection::open(address, wait_ms));
  OPWRIGHT_TRY(migrate(connection));
  return std::unique_ptr<store::ResultsWriter>(new ResultsWriter(std::move(connection), durability));
}

template <class Work>
Status ResultsWriter::again_when_lost(const Work& work) {
  constexpr auto kPause = std::chrono::milliseconds(100);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(connection_.wait_ms());
  while (true) {
    const Status done = work();
    if (done || !connection_.is_lost()) return done;
    while (connection_.is_lost()) {
      if (std::chrono::steady_clock::now() >= deadline) return done;
      std::this_thread::sleep_for(kPause);
      auto opened = Connection::open(connection_.address(), connection_.wait_ms());
      if (!opened) continue;
      connection_ = *std::move(opened);
      waits_.reset();
    }
  }
}

// Waiting for the disk at each result would make runs of small cases several times slower. So it is waited for a few
// times a second: one wait covers all commits before it.
Status ResultsWriter::wait_for_disk(Weight weight) {
  const auto now = std::chrono::steady_clock::now();
  const bool waits = durability_ == Durability::kEveryCommit ||
                     (durability_ == Durability::kSoon && (weight == Weight::kRun || now - on_disk_ >= kSoonest));
  if (waits) on_disk_ = now;
  if (waits_ == waits) return {};
  OPWRIGHT_TRY(connection_.execute(waits ? "SET synchronous_commit = on" : "SET synchronous_commit = off"));
  waits_ = waits;
  return {};
}

Status ResultsWriter::begin(const RunRecord& run) {
  Params put;
  for (const std::string* text :
       {&run.uid, &run.started, &run.ended, &run.host, &run.device, &run.numerics, &run.command, &run.git_commit,
        &run.version, &run.suite, &run.against, &run.plan, &run.facts, &run.status})
    put << std::string_view(*text);
  put << static_cast<std::int64_t>(run.seed) << run.planned;
  bool tried = false;
  return again_when_lost([&]() -> Status {
    OPWRIGHT_TRY(wait_for_disk(Weight::kRun));
    const auto added = connection_.query(fmt::format("INSERT INTO run ({}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, "
                                                     "$10, $11, $12, $13, $14, $15, $16) ON CONFLICT DO NOTHING",
                                                     kRunColumns),
                                         put);
    if (!added) {
      tried = true;
      return fail(added.error());
    }
    // Whoever lost the connection may have been heard before.
    if (added->changed() == 1 || tried) return {};
    return fail(ErrorCode::kUsage, fmt::format("{}: there is a run {} already; give the new one another name, or "
                                               "continue that one with --resume",
                                               connection_.name(), run.uid));
  });
}

Result<std::int64_t> ResultsWriter::id_of(std::string_view uid) {
  if (const auto known = ids_.find(std::string(uid)); known != ids_.end()) return known->second;
  Params of;
  of << uid;
  OPWRIGHT_TRY_ASSIGN(const Rows found, connection_.query("SELECT id FROM run WHERE uid = $1", of));
  if (found.count() == 0) return fail(no_run(connection_.name(), uid));
  return ids_.emplace(uid, found.integer(0, 0)).first->second;
}

Status ResultsWriter::add(std::string_view uid, std::span<const CaseRecord> records) {
  return again_when_lost([&]() -> Status {
    OPWRIGHT_TRY_ASSIGN(const std::int64_t id, id_of(uid));
    OPWRIGHT_TRY(wait_for_disk(Weight::kResult));
    std::vector<Params> rows(records.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
      for (const ResultValue& value : result_values(id, records[i]))
        std::visit([&](const auto& one) { rows[i] << one; }, value);
    }
    if (rows.size() != 1) return connection_.for_all(insert_result(), rows);
    const auto done = connection_.query(insert_result(), rows.front());
    return done ? Status() : fail(done.error());
  });
}

Status ResultsWriter::resume(std::string_view uid, std::string_view facts) { return change(uid, "running", "", facts); }

Status ResultsWriter::end(std::string_view uid, std::string_view status, std::string_view ended) {
  return change(uid, status, ended, "");
}

Status ResultsWriter::change(std::string_view uid, std::string_view status, std::string_view ended,
                             std::string_view facts) {
  return again_when_lost([&]() -> Status {
    OPWRIGHT_TRY_ASSIGN(const std::int64_t id, id_of(uid));
    OPWRIGHT_TRY(wait_for_disk(Weight::kRun));
    Params put;
    put << id << status << ended << facts;
    const auto done = connection_.query(
        "UPDATE run SET status = $2, ended = $3, facts = CASE WHEN $4 = '' THEN facts "
        "ELSE $4 END WHERE id = $1",
        put);
    return done ? Status() : fail(done.error());
  });
}

// ---- reading

Result<std::unique_ptr<store::ResultsReader>> ResultsReader::open(const Address& address, int wait_ms) {
  OPWRIGHT_TRY_ASSIGN(Connection connection, Connection::open(address, wait_ms));
  OPWRIGHT_TRY_ASSIGN(const auto version, version_of(connection));
  if (!version) return fail(no_store(connection, "run something first (opwright run)"));
  return std::unique_ptr<store::ResultsReader>(new ResultsReader(std::move(connection)));
}

template <class Work>
Status ResultsReader::in_one_state(const Work& work) {
  if (reading_ == 0) OPWRIGHT_TRY(connection_.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
  ++reading_;
  Status done = work();
  if (--reading_ == 0) {
    const Status ended = connection_.execute("ROLLBACK");  // nothing was written
    if (done) done = ended;
  }
  return done;
}

Result<std::int64_t> ResultsReader::id_of(std::string_view uid) {
  Params of;
  of << uid;
  OPWRIGHT_TRY_ASSIGN(const Rows found, connection_.query("SELECT id FROM run WHERE uid = $1", of));
  if (found.count() == 0) return fail(no_run(connection_.name(), uid));
  return found.integer(0, 0);
}

Result<std::vector<RunRecord>> ResultsReader::runs() {
  OPWRIGHT_TRY_ASSIGN(const Rows found, connection_.query(fmt::format(
                                            "SELECT {} FROM run ORDER BY started COLLATE \"C\", id", kRunColumns)));
  std::vector<RunRecord> runs;
  for (int i = 0; i < found.count(); ++i) {
    RunRecord& run = runs.emplace_back(read_run(found, i));
    run.status = status_now(run);
  }
  return runs;
}

Result<std::vector<std::int64_t>> ResultsReader::done(std::string_view uid) {
  std::vector<std::int64_t> places;
  OPWRIGHT_TRY(in_one_state([&]() -> Status {
    OPWRIGHT_TRY_ASSIGN(const std::int64_t id, id_of(uid));
    Params of;
    of << id;
    OPWRIGHT_TRY_ASSIGN(const Rows found,
                        connection_.query("SELECT array_agg(place ORDER BY place) FROM result WHERE run_id = $1", of));
    if (!found.is_null(0, 0)) places = found.integers(0, 0);
    return {};
  }));
  return places;
}

Result<std::map<Outcome, std::int64_t>> ResultsReader::outcomes(std::string_view uid) {
  std::map<Outcome, std::int64_t> counts;
  OPWRIGHT_TRY(in_one_state([&]() -> Status {
    OPWRIGHT_TRY_ASSIGN(const std::int64_t id, id_of(uid));
    Params of;
    of << id;
    OPWRIGHT_TRY_ASSIGN(const Rows found,
                        connection_.query("SELECT outcome, count(*) FROM result WHERE run_id = $1 GROUP "
                                          "BY outcome",
                                          of));
    for (int i = 0; i < found.count(); ++i) {
      const auto outcome = parse_outcome(found.text(i, 0));
      if (!outcome)
        return fail(ErrorCode::kUnsupported, fmt::format("{}: results with the outcome '{}', which this build does not "
                                                         "know; use a newer opwright",
                                                         connection_.name(), found.text(i, 0)));
      counts[*outcome] = found.integer(i, 1);
    }
    return {};
  }));
  return counts;
}

Status ResultsReader::for_each(std::string_view uid, const std::function<Status(CaseRecord&&)>& use) {
  return in_one_state([&]() -> Status {
    constexpr std::int64_t kAtOnce = 1024;
    OPWRIGHT_TRY_ASSIGN(const std::int64_t id, id_of(uid));
    std::int64_t behind = INT64_MIN;
    while (true) {  // by place, which is the primary key: no cursor is left open when the caller stops
      Params of;
      of << id << behind << kAtOnce;
      OPWRIGHT_TRY_ASSIGN(
          const Rows found,
          connection_.query(fmt::format("SELECT {} FROM result WHERE run_id = $1 AND place > $2 ORDER BY "
                                        "run_id, place LIMIT $3",
                                        result_columns()),
                            of));
      for (int i = 0; i < found.count(); ++i) {
        OPWRIGHT_TRY_ASSIGN(CaseRecord record, record_from(connection_.name(), [&](int place, auto& value) {
                              take(found, i, place, value);
                            }));
        behind = record.index;
        OPWRIGHT_TRY(use(std::move(record)));
      }
      if (found.count() < kAtOnce) return {};
    }
  });
}

}  // namespace opwright::store::postgresql
