#include "store/results.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <optional>
#include <thread>

#include "base/near_names.h"
#include "store/run_life.h"
#include "store/schema.h"

namespace opwright::store {
namespace {

// The columns of `result` behind run_id, in the order in which bind_record() and read_record() go through them.
constexpr std::array kResultColumns{"place",
                                    "vector",
                                    "key",
                                    "config_hash",
                                    "op",
                                    "suite",
                                    "line",
                                    "repeat",
                                    "dtype",
                                    "layout",
                                    "memory",
                                    "models",
                                    "calls",
                                    "elements",
                                    "distribution",
                                    "seed",
                                    "outcome",
                                    "reason",
                                    "argument",
                                    "blame",
                                    "evidence",
                                    "notes",
                                    "attempts",
                                    "pcc",
                                    "ulp",
                                    "nrmse",
                                    "bound_used",
                                    "judged",
                                    "verdicts",
                                    "outputs",
                                    "fields",
                                    "fields_equal",
                                    "differences",
                                    "faults",
                                    "faults_noticed",
                                    "unnoticed",
                                    "against",
                                    "disagreement",
                                    "started",
                                    "wall_seconds",
                                    "device_seconds",
                                    "cold_seconds",
                                    "kernel_seconds",
                                    "reference_seconds",
                                    "l1_per_core",
                                    "dram",
                                    "host_bytes"};
constexpr std::array kRunColumns{"uid",     "started", "ended",   "host", "device", "numerics", "command", "git_commit",
                                 "version", "suite",   "against", "plan", "facts",  "status",   "seed",    "planned"};

template <class Names>
std::string listed(const Names& names) {
  std::string text;
  for (const char* name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

std::string marks(std::size_t count) {
  std::string text = "?";
  for (std::size_t i = 1; i < count; ++i) text += ", ?";
  return text;
}

// One field after the other, so that no number of a column is written down.
class Binder {
 public:
  Binder(Statement& statement, int first) : statement_(statement), next_(first) {}
  Binder& operator<<(std::int64_t value) { return statement_.bind(next_++, value), *this; }
  Binder& operator<<(std::string_view text) { return statement_.bind(next_++, text), *this; }
  Binder& operator<<(double value) { return statement_.bind_real(next_++, value), *this; }
  Binder& operator<<(const std::optional<double>& value) {
    if (value) return *this << *value;
    return statement_.bind_null(next_++), *this;
  }

 private:
  Statement& statement_;
  int next_;
};

class Columns {
 public:
  explicit Columns(const Statement& statement) : statement_(statement) {}
  Columns& operator>>(std::string& text) { return text = statement_.text(next_++), *this; }
  Columns& operator>>(std::int64_t& value) { return value = statement_.integer(next_++), *this; }
  Columns& operator>>(int& value) { return value = static_cast<int>(statement_.integer(next_++)), *this; }
  Columns& operator>>(std::uint64_t& value) {
    return value = static_cast<std::uint64_t>(statement_.integer(next_++)), *this;
  }
  Columns& operator>>(double& value) { return value = statement_.real(next_++), *this; }
  Columns& operator>>(std::optional<double>& value) {
    if (statement_.is_null(next_))
      value.reset();
    else
      value = statement_.real(next_);
    return ++next_, *this;
  }

 private:
  const Statement& statement_;
  int next_ = 0;
};

void bind_record(Statement& to, int first, const CaseRecord& record) {
  Binder(to, first) << record.index << record.vector << record.key << record.config_hash << record.op << record.suite
                    << record.line << record.repeat << record.dtype << record.layout << record.memory << record.models
                    << record.calls << record.elements << flag_of(record.recipe.distribution)
                    << static_cast<std::int64_t>(record.recipe.seed) << name_of(record.outcome) << record.reason
                    << record.argument << name_of(record.blame) << record.evidence << record.notes
                    << std::int64_t{record.attempts} << record.pcc << record.ulp << record.nrmse << record.bound_used
                    << record.judged << record.verdicts << record.outputs << record.fields << record.fields_equal
                    << record.differences << record.faults << record.faults_noticed << record.unnoticed
                    << record.against << record.disagreement << record.started << record.wall_seconds
                    << record.device_seconds << record.cold_seconds << record.kernel_seconds << record.reference_seconds
                    << record.l1_per_core << record.dram << record.host_bytes;
}

// A word of a closed set that this build does not know is an error: a default would be a lie.
Result<CaseRecord> read_record(const Statement& row, const std::string& path) {
  CaseRecord record;
  std::string distribution, outcome, blame;
  Columns(row) >> record.index >> record.vector >> record.key >> record.config_hash >> record.op >> record.suite >>
      record.line >> record.repeat >> record.dtype >> record.layout >> record.memory >> record.models >> record.calls >>
      record.elements >> distribution >> record.recipe.seed >> outcome >> record.reason >> record.argument >> blame >>
      record.evidence >> record.notes >> record.attempts >> record.pcc >> record.ulp >> record.nrmse >>
      record.bound_used >> record.judged >> record.verdicts >> record.outputs >> record.fields >> record.fields_equal >>
      record.differences >> record.faults >> record.faults_noticed >> record.unnoticed >> record.against >>
      record.disagreement >> record.started >> record.wall_seconds >> record.device_seconds >> record.cold_seconds >>
      record.kernel_seconds >> record.reference_seconds >> record.l1_per_core >> record.dram >> record.host_bytes;
  const auto unknown = [&](std::string_view what, std::string_view word) {
    return fail(ErrorCode::kUnsupported, fmt::format("{}: result {} has the {} '{}', which this build does not know; "
                                                     "use a newer opwright",
                                                     path, record.index, what, word));
  };
  const auto known_distribution = parse_distribution(distribution);
  const auto known_outcome = parse_outcome(outcome);
  const auto known_blame = parse_blame(blame);
  if (!known_distribution) return unknown("distribution", distribution);
  if (!known_outcome) return unknown("outcome", outcome);
  if (!known_blame) return unknown("blame", blame);
  record.recipe.distribution = *known_distribution;
  record.outcome = *known_outcome;
  record.blame = *known_blame;
  return record;
}

RunRecord read_run(const Statement& row) {
  RunRecord run;
  Columns(row) >> run.uid >> run.started >> run.ended >> run.host >> run.device >> run.numerics >> run.command >>
      run.git_commit >> run.version >> run.suite >> run.against >> run.plan >> run.facts >> run.status >> run.seed >>
      run.planned;
  return run;
}

std::uint64_t file_number(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

Error no_run(const std::string& path, std::string_view uid) {
  return {ErrorCode::kNotFound, fmt::format("{}: no run '{}'; 'opwright results --runs' lists them", path, uid)};
}

}  // namespace

// ---- writing

Result<ResultsWriter> ResultsWriter::open(const std::string& path, int wait_ms) {
  // Turning a new store into one with a log does not wait for another process that does the same: SQLite says at once
  // that it is locked.
  constexpr auto kPause = std::chrono::milliseconds(20);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(wait_ms);
  while (true) {
    auto writer = open_once(path, wait_ms);
    if (writer || writer.error().code != ErrorCode::kLocked || std::chrono::steady_clock::now() >= deadline)
      return writer;
    std::this_thread::sleep_for(kPause);
  }
}

Result<ResultsWriter> ResultsWriter::open_once(const std::string& path, int wait_ms) {
  OPWRIGHT_TRY_ASSIGN(Database database, Database::open(path, Database::Mode::kWrite, wait_ms));
  const std::uint64_t file = file_number(path);
  OPWRIGHT_TRY_ASSIGN(const std::int64_t tables, database.query_integer("SELECT count(*) FROM sqlite_master"));
  if (tables == 0) OPWRIGHT_TRY(database.execute("PRAGMA page_size = 8192"));
  OPWRIGHT_TRY(migrate(database));
  // NORMAL: what was committed survives the end of the process; only a power failure may take the last ones, which
  // `--resume` then runs again. The log is folded into the file every 32 MB, not every 8: each time waits for the disk.
  OPWRIGHT_TRY(
      database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;"
                       "PRAGMA cache_size = -8192; PRAGMA wal_autocheckpoint = 4096"));
  ResultsWriter writer(std::move(database));
  writer.wait_ms_ = wait_ms;
  writer.file_ = file;
  OPWRIGHT_TRY(writer.prepare());
  return writer;
}

Status ResultsWriter::prepare() {
  OPWRIGHT_TRY_ASSIGN(find_, database_.prepare("SELECT id FROM run WHERE uid = ?"));
  OPWRIGHT_TRY_ASSIGN(begin_, database_.prepare(fmt::format("INSERT INTO run({}) VALUES ({})", listed(kRunColumns),
                                                            marks(kRunColumns.size()))));
  OPWRIGHT_TRY_ASSIGN(add_, database_.prepare(fmt::format("INSERT OR REPLACE INTO result(run_id, {}) VALUES ({})",
                                                          listed(kResultColumns), marks(kResultColumns.size() + 1))));
  OPWRIGHT_TRY_ASSIGN(end_, database_.prepare("UPDATE run SET status = ?2, ended = ?3 WHERE id = ?1"));
  OPWRIGHT_TRY_ASSIGN(facts_, database_.prepare("UPDATE run SET facts = ?2 WHERE id = ?1"));
  return {};
}

Status ResultsWriter::begin(const RunRecord& run) {
  // An import that failed may have taken the file away that it had made, between our opening it and our lock.
  while (true) {
    OPWRIGHT_TRY(database_.execute("BEGIN IMMEDIATE"));
    if (file_ == file_number(database_.path())) break;
    (void)database_.execute("ROLLBACK");
    OPWRIGHT_TRY_ASSIGN(*this, open(std::string(database_.path()), wait_ms_));
  }
  Status done = insert(run);
  if (done) done = database_.execute("COMMIT");
  if (!done) (void)database_.execute("ROLLBACK");
  return done;
}

Status ResultsWriter::insert(const RunRecord& run) {
  OPWRIGHT_TRY_ASSIGN(const bool known, find_.bind(1, run.uid).step());
  find_.reset();
  if (known)
    return fail(ErrorCode::kUsage, fmt::format("{}: there is a run {} already; give the new one another name, or "
                                               "continue that one with --resume",
                                               database_.path(), run.uid));
  Binder(begin_, 1) << run.uid << run.started << run.ended << run.host << run.device << run.numerics << run.command
                    << run.git_commit << run.version << run.suite << run.against << run.plan << run.facts << run.status
                    << static_cast<std::int64_t>(run.seed) << run.planned;
  return begin_.run();
}

Result<std::int64_t> ResultsWriter::id_of(std::string_view uid) {
  if (uid == uid_) return id_;
  OPWRIGHT_TRY_ASSIGN(const bool known, find_.bind(1, uid).step());
  if (!known) return fail(no_run(database_.path(), uid));
  id_ = find_.integer(0);
  find_.reset();
  uid_ = uid;
  return id_;
}

Status ResultsWriter::add(std::string_view uid, const CaseRecord& record) {
  OPWRIGHT_TRY_ASSIGN(const std::int64_t id, id_of(uid));
  add_.bind(1, id);
  bind_record(add_, 2, record);
  return add_.run();  // outside a transaction each statement is one
}

Status ResultsWriter::resume(std::string_view uid, std::string_view facts) {
  OPWRIGHT_TRY_ASSIGN(const std::int64_t id, id_of(uid));
  if (!facts.empty()) OPWRIGHT_TRY(facts_.bind(1, id).bind(2, facts).run());
  return end(uid, "running", "");
}

Status ResultsWriter::end(std::string_view uid, std::string_view status, std::string_view ended) {
  OPWRIGHT_TRY_ASSIGN(const std::int64_t id, id_of(uid));
  return end_.bind(1, id).bind(2, status).bind(3, ended).run();
}

// ---- reading

Result<ResultsReader> ResultsReader::open(const std::string& path, int wait_ms) {
  if (file_number(path) == 0)
    return fail(
        ErrorCode::kNotFound,
        fmt::format("{}: no store there; run something first (opwright run) or name a store with --store", path));
  OPWRIGHT_TRY_ASSIGN(Database database, Database::open(path, Database::Mode::kRead, wait_ms));
  OPWRIGHT_TRY(check_version(database));
  // An older store is held as it is; another is not, so that a reader beside a long run does not make its log grow.
  OPWRIGHT_TRY_ASSIGN(const std::int64_t version, database.query_integer("PRAGMA user_version"));
  if (version < kSchemaVersion) OPWRIGHT_TRY(database.execute("PRAGMA temp_store = MEMORY; BEGIN"));
  OPWRIGHT_TRY(read_as_current(database));
  return ResultsReader(std::move(database));
}

Result<std::vector<RunRecord>> ResultsReader::runs() {
  OPWRIGHT_TRY_ASSIGN(Statement find,
                      database_.prepare(fmt::format("SELECT {} FROM run ORDER BY started, id", listed(kRunColumns))));
  std::vector<RunRecord> all;
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool row, find.step());
    if (!row) return all;
    all.push_back(read_run(find));
    all.back().status = status_now(all.back());
  }
}

Result<RunRecord> ResultsReader::find_run(std::string_view name) {
  OPWRIGHT_TRY_ASSIGN(std::vector<RunRecord> all, runs());
  const auto not_found = [&](std::string why) {
    return fail(ErrorCode::kNotFound, fmt::format("{}: {}", database_.path(), why));
  };
  if (all.empty()) return not_found("the store has no runs yet; make one with 'opwright run'");
  if (name == "last" || name.starts_with("last~")) {
    std::size_t back = 0;
    if (const std::string_view digits = name.substr(std::min<std::size_t>(name.size(), 5)); name.size() > 4) {
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), back);
      if (error != std::errc() || end != digits.data() + digits.size())
        return fail(ErrorCode::kUsage, fmt::format("'{}' names no run; last, last~1, last~2, … do", name));
    }
    if (back >= all.size())
      return not_found(fmt::format("no run '{}': there {} only {}", name, all.size() == 1 ? "is" : "are", all.size()));
    return all[all.size() - 1 - back];
  }
  std::vector<const RunRecord*> found;
  for (const RunRecord& run : all) {
    if (run.uid == name) return run;
    if (run.uid.starts_with(name)) found.push_back(&run);
  }
  if (found.size() == 1 && !name.empty()) return *found.front();
  if (found.size() > 1) {
    std::string names;
    for (std::size_t i = 0; i < found.size() && i < 5; ++i) names += (i > 0 ? ", " : "") + found[i]->uid;
    return fail(ErrorCode::kUsage, fmt::format("'{}' is the beginning of {} runs ({}{}); write more of it", name,
                                               found.size(), names, found.size() > 5 ? ", …" : ""));
  }
  std::vector<std::string_view> known;
  for (const RunRecord& run : all) known.push_back(run.uid);
  const auto near = near_names(name, known);
  return not_found(fmt::format("no run '{}'{}; 'opwright results --runs' lists them", name, did_you_mean(near)));
}

Result<std::vector<std::int64_t>> ResultsReader::done(std::string_view uid) {
  OPWRIGHT_TRY_ASSIGN(Statement find, database_.prepare("SELECT place FROM result WHERE run_id ="
                                                        " (SELECT id FROM run WHERE uid = ?) ORDER BY place"));
  find.bind(1, uid);
  std::vector<std::int64_t> places;
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool row, find.step());
    if (!row) return places;
    places.push_back(find.integer(0));
  }
}

Result<std::map<Outcome, std::int64_t>> ResultsReader::outcomes(std::string_view uid) {
  OPWRIGHT_TRY_ASSIGN(Statement find, database_.prepare("SELECT outcome, count(*) FROM result WHERE run_id ="
                                                        " (SELECT id FROM run WHERE uid = ?) GROUP BY outcome"));
  find.bind(1, uid);
  std::map<Outcome, std::int64_t> counts;
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool row, find.step());
    if (!row) return counts;
    const auto outcome = parse_outcome(find.text(0));
    if (!outcome)
      return fail(ErrorCode::kUnsupported, fmt::format("{}: results with the outcome '{}', which this build does not "
                                                       "know; use a newer opwright",
                                                       database_.path(), find.text(0)));
    counts[*outcome] = find.integer(1);
  }
}

Status ResultsReader::for_each(std::string_view uid, const std::function<Status(CaseRecord&&)>& use) {
  OPWRIGHT_TRY_ASSIGN(Statement find_id, database_.prepare("SELECT id FROM run WHERE uid = ?"));
  OPWRIGHT_TRY_ASSIGN(const bool known, find_id.bind(1, uid).step());
  if (!known) return fail(no_run(database_.path(), uid));
  OPWRIGHT_TRY_ASSIGN(
      Statement find,
      database_.prepare(fmt::format("SELECT {} FROM result WHERE run_id = ? ORDER BY place", listed(kResultColumns))));
  find.bind(1, find_id.integer(0));
  find_id.reset();
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool row, find.step());
    if (!row) return {};
    OPWRIGHT_TRY_ASSIGN(CaseRecord record, read_record(find, database_.path()));
    OPWRIGHT_TRY(use(std::move(record)));
  }
}

}  // namespace opwright::store
