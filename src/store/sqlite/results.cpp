#include "store/sqlite/results.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <tuple>

#include "store/run_life.h"
#include "store/sqlite/results_rows.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/sums.h"
#include "store/sqlite_door.h"

namespace opwright::store::sqlite {
namespace {

std::uint64_t file_number(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

}  // namespace

// ---- writing

Result<ResultsWriter> ResultsWriter::open(const std::string& path, int wait_ms, Durability durability) {
  // Turning a new store into one with a log does not wait for another process that does the same: SQLite says at once
  // that it is locked.
  constexpr auto kPause = std::chrono::milliseconds(20);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(wait_ms);
  while (true) {
    auto writer = open_once(path, wait_ms, durability);
    if (writer || writer.error().code != ErrorCode::kLocked || std::chrono::steady_clock::now() >= deadline)
      return writer;
    std::this_thread::sleep_for(kPause);
  }
}

Result<ResultsWriter> ResultsWriter::open_once(const std::string& path, int wait_ms, Durability durability) {
  OPWRIGHT_TRY_ASSIGN(Database database, Database::open(path, Database::Mode::kWrite, wait_ms));
  const std::uint64_t file = file_number(path);
  OPWRIGHT_TRY_ASSIGN(const std::int64_t tables, database.query_integer("SELECT count(*) FROM sqlite_master"));
  if (tables == 0) OPWRIGHT_TRY(database.execute("PRAGMA page_size = 8192"));
  OPWRIGHT_TRY(migrate(database));
  OPWRIGHT_TRY(check_definitions(database));
  OPWRIGHT_TRY(database.use_log());
  OPWRIGHT_TRY(database.wait_for_disk(false));
  // The log is folded into the file every 32 MB, not every 8: each time waits for the disk.
  OPWRIGHT_TRY(database.execute("PRAGMA cache_size = -8192; PRAGMA wal_autocheckpoint = 4096"));
  ResultsWriter writer(std::move(database));
  writer.wait_ms_ = wait_ms;
  writer.durability_ = durability;
  writer.file_ = file;
  OPWRIGHT_TRY(writer.prepare());
  return writer;
}

Status ResultsWriter::prepare() {
  const std::string run_columns = column_list(part_of(Part::kRun));
  OPWRIGHT_TRY_ASSIGN(find_, database_.prepare(fmt::format("SELECT {}, sum FROM run WHERE uid = ?", run_columns)));
  OPWRIGHT_TRY_ASSIGN(begin_, database_.prepare(insert_summed(Part::kRun)));
  OPWRIGHT_TRY_ASSIGN(find_result_, database_.prepare("SELECT sum FROM result WHERE run_id = ? AND place = ?"));
  OPWRIGHT_TRY_ASSIGN(add_, database_.prepare("INSERT OR REPLACE" + insert_summed(Part::kResult).substr(6)));
  OPWRIGHT_TRY_ASSIGN(end_, database_.prepare(update_summed(Part::kRun)));
  return {};
}

// Waiting for the disk at each result would make runs of small cases several times slower. So it is waited for a few
// times a second: one wait covers all commits before it. What a power failure takes, `--resume` runs again.
template <class Work>
Status ResultsWriter::in_transaction(Weight weight, const Work& work) {
  const auto now = std::chrono::steady_clock::now();
  const bool waits = durability_ == Durability::kEveryCommit ||
                     (durability_ == Durability::kSoon && (weight == Weight::kRun || now - on_disk_ >= kSoonest));
  if (waits != waits_) OPWRIGHT_TRY(database_.wait_for_disk(waits));
  waits_ = waits;
  OPWRIGHT_TRY(database_.execute("BEGIN IMMEDIATE"));
  Status done = work();
  if (done) done = tally_.write(database_);
  if (done) done = database_.execute("COMMIT");
  if (!done) {
    tally_.clear();
    for (Statement* statement : {&find_, &begin_, &find_result_, &add_, &end_}) statement->reset();
    (void)database_.execute("ROLLBACK");
  } else if (waits) {
    on_disk_ = now;
  }
  return done;
}

Status ResultsWriter::begin(const RunRecord& run) {
  // An import that failed may have taken the file away that it had made, between our opening it and our lock.
  while (true) {
    bool gone = false;
    const Status done = in_transaction(Weight::kRun, [&]() -> Status {
      gone = file_ != file_number(database_.path());
      return gone ? fail(ErrorCode::kLocked, "the file is gone") : insert(run);
    });
    if (!gone) return done;
    OPWRIGHT_TRY_ASSIGN(*this, open(std::string(database_.path()), wait_ms_, durability_));
  }
}

Status ResultsWriter::insert(const RunRecord& run) {
  // Runs are few: all of them are looked at, so that a hole in the index of their names hides none.
  bool known = false;
  std::int64_t last = 0;
  OPWRIGHT_TRY(verifier_.read(database_, Part::kRun, 0, [&](const Statement& row) -> Status {
    last = std::max(last, row.integer(0));
    known = known || row.text(1) == run.uid;
    return {};
  }));
  if (known)
    return fail(ErrorCode::kUsage, fmt::format("{}: there is a run {} already; give the new one another name, or "
                                               "continue that one with --resume",
                                               database_.path(), run.uid));
  SummedRow row(begin_, Part::kRun);
  bind_run(row, last + 1, run);
  tally_.add(Part::kRun, 0, row.bind_sum());
  return begin_.run();
}

Result<std::int64_t> ResultsWriter::id_of(std::string_view uid) {
  if (uid == uid_) return id_;
  OPWRIGHT_TRY_ASSIGN(const bool known, find_.bind(1, uid).step());
  if (!known) return fail(no_run(database_.path(), uid));
  const Status sound = verifier_.check_row(database_, Part::kRun, find_);
  id_ = find_.integer(0);
  find_.reset();
  OPWRIGHT_TRY(sound);
  uid_ = uid;
  return id_;
}

Status ResultsWriter::add(std::string_view uid, std::span<const CaseRecord> records) {
  OPWRIGHT_TRY_ASSIGN(const std::int64_t id, id_of(uid));
  return in_transaction(Weight::kResult, [&]() -> Status {
    for (const CaseRecord& record : records) OPWRIGHT_TRY(insert(id, record));
    return {};
  });
}

Status ResultsWriter::insert(std::int64_t run_id, const CaseRecord& record) {
  OPWRIGHT_TRY_ASSIGN(const bool there, find_result_.bind(1, run_id).bind(2, record.index).step());
  SummedRow row(add_, Part::kResult);
  bind_record(row, run_id, record);
  const std::int64_t sum = row.bind_sum();
  if (there)
    tally_.replace(Part::kResult, run_id, find_result_.integer(0), sum);
  else
    tally_.add(Part::kResult, run_id, sum);
  find_result_.reset();
  return add_.run();
}

Status ResultsWriter::resume(std::string_view uid, std::string_view facts) {
  return in_transaction(Weight::kRun, [&] { return change(uid, "running", "", facts); });
}

Status ResultsWriter::end(std::string_view uid, std::string_view status, std::string_view ended) {
  return in_transaction(Weight::kRun, [&] { return change(uid, status, ended, ""); });
}

Status ResultsWriter::change(std::string_view uid, std::string_view status, std::string_view ended,
                             std::string_view facts) {
  OPWRIGHT_TRY_ASSIGN(const bool known, find_.bind(1, uid).step());
  if (!known) return fail(no_run(database_.path(), uid));
  OPWRIGHT_TRY(verifier_.check_row(database_, Part::kRun, find_));
  const std::int64_t id = find_.integer(0),
                     old_sum = find_.integer(static_cast<int>(part_of(Part::kRun).columns.size()));
  RunRecord run = read_run(find_);
  find_.reset();
  run.status = status;
  run.ended = ended;
  if (!facts.empty()) run.facts = facts;
  SummedRow row(end_, Part::kRun);
  bind_run(row, id, run);
  tally_.replace(Part::kRun, 0, old_sum, row.bind_sum());
  return end_.run();
}

// ---- reading

Result<ResultsReader> ResultsReader::open(const std::string& path, int wait_ms) {
  OPWRIGHT_TRY(check_store_name(path));
  if (file_number(path) == 0)
    return fail(
        ErrorCode::kNotFound,
        fmt::format("{}: no store there; run something first (opwright run) or name a store with --store", path));
  OPWRIGHT_TRY_ASSIGN(Database database, Database::open(path, Database::Mode::kRead, wait_ms));
  OPWRIGHT_TRY(check_version(database));
  OPWRIGHT_TRY(check_definitions(database));
  OPWRIGHT_TRY_ASSIGN(const std::int64_t version, database.query_integer("PRAGMA user_version"));
  const bool older = version < kSchemaVersion;
  if (older)
    OPWRIGHT_TRY(database.execute("PRAGMA temp_store = MEMORY; BEGIN"));  // so that nobody migrates it meanwhile
  OPWRIGHT_TRY(read_as_current(database));
  ResultsReader reader(std::move(database));
  reader.verifier_.set_schema(version);
  reader.reading_ = older ? 1 : 0;
  return reader;
}

template <class Work>
Status ResultsReader::in_one_state(const Work& work) {
  if (reading_ == 0) {
    OPWRIGHT_TRY(database_.execute("BEGIN"));
    verifier_.forget();
  }
  ++reading_;
  Status done = work();
  if (--reading_ == 0) {
    const Status ended = database_.execute("ROLLBACK");  // nothing was written
    if (done) done = ended;
  }
  return done;
}

namespace {

// The same of an older store, whose rows have no checksums.
Status read_plain(Database& database, Part part, const std::string& rest, const Verifier::Use& use) {
  OPWRIGHT_TRY_ASSIGN(Statement find, database.prepare(fmt::format("SELECT {} FROM {} {}", column_list(part_of(part)),
                                                                   part_of(part).table, rest)));
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool row, find.step());
    if (!row) return {};
    OPWRIGHT_TRY(use(find));
  }
}

}  // namespace

Result<std::vector<RunRecord>> ResultsReader::runs() {
  std::vector<std::pair<std::int64_t, RunRecord>> all;
  const auto use = [&](const Statement& row) -> Status {
    all.emplace_back(row.integer(0), read_run(row));
    RunRecord& run = all.back().second;
    run.status = status_now(run);
    return {};
  };
  OPWRIGHT_TRY(in_one_state([&] {
    return verifier_.verifies() ? verifier_.read(database_, Part::kRun, 0, use)
                                : read_plain(database_, Part::kRun, "", use);
  }));
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second.started, a.first) < std::tie(b.second.started, b.first);
  });
  std::vector<RunRecord> runs;
  for (auto& [id, run] : all) runs.push_back(std::move(run));
  return runs;
}

Status ResultsReader::read_results(std::string_view uid, const Verifier::Use& use) {
  return in_one_state([&]() -> Status {
    std::optional<std::int64_t> id;
    const auto find = [&](const Statement& row) -> Status {
      if (row.text(1) == uid) id = row.integer(0);
      return {};
    };
    OPWRIGHT_TRY(verifier_.verifies() ? verifier_.read(database_, Part::kRun, 0, find)
                                      : read_plain(database_, Part::kRun, "", find));
    if (!id) return fail(no_run(database_.path(), uid));
    if (verifier_.verifies()) return verifier_.read(database_, Part::kResult, *id, use);
    return read_plain(database_, Part::kResult, fmt::format("WHERE run_id = {} ORDER BY place", *id), use);
  });
}

Result<std::vector<std::int64_t>> ResultsReader::done(std::string_view uid) {
  std::vector<std::int64_t> places;
  OPWRIGHT_TRY(read_results(uid, [&](const Statement& row) -> Status {
    places.push_back(row.integer(1));
    return {};
  }));
  return places;
}

Result<std::map<Outcome, std::int64_t>> ResultsReader::outcomes(std::string_view uid) {
  static const int column = [] {
    const auto& columns = part_of(Part::kResult).columns;
    return static_cast<int>(std::find(columns.begin(), columns.end(), std::string_view("outcome")) - columns.begin());
  }();
  std::map<Outcome, std::int64_t> counts;
  OPWRIGHT_TRY(read_results(uid, [&](const Statement& row) -> Status {
    const auto outcome = parse_outcome(row.text(column));
    if (!outcome)
      return fail(ErrorCode::kUnsupported, fmt::format("{}: results with the outcome '{}', which this build does not "
                                                       "know; use a newer opwright",
                                                       database_.path(), row.text(column)));
    ++counts[*outcome];
    return {};
  }));
  return counts;
}

Status ResultsReader::for_each(std::string_view uid, const std::function<Status(CaseRecord&&)>& use) {
  return read_results(uid, [&](const Statement& row) -> Status {
    OPWRIGHT_TRY_ASSIGN(CaseRecord record, read_record(row, database_.path()));
    return use(std::move(record));
  });
}

}  // namespace opwright::store::sqlite
