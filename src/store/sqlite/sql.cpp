#include "store/sqlite/sql.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <limits>

#include "store/sqlite/tally.h"
#include "store/sqlite_door.h"

namespace opwright::store::sqlite {
namespace {

Error error_of(sqlite3* handle, std::string_view path, int code) {
  const char* message = sqlite3_errmsg(handle);
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorCode::kLocked, fmt::format("{}: the store is locked by another process; try again when it is done, "
                                              "or wait longer with --wait SECONDS",
                                              path)};
    case SQLITE_FULL:
      return {ErrorCode::kIo,
              fmt::format("{}: the disk is full ({}); free some space and run the command again", path, message)};
    case SQLITE_READONLY:
      return {ErrorCode::kIo,
              fmt::format("{}: the store is read-only ({}); give write permission or name another with --store", path,
                          message)};
    case SQLITE_NOTADB:
      return {ErrorCode::kBadInput,
              fmt::format("{}: not an opwright store; nothing was changed, name another file with --store", path)};
    case SQLITE_CORRUPT:
      return damage(std::string(path), message);
    case SQLITE_CANTOPEN:
      return {ErrorCode::kIo,
              fmt::format("{}: cannot open the store ({}); does the folder exist and is it writable?", path, message)};
    case SQLITE_IOERR:
      return {ErrorCode::kIo, fmt::format("{}: reading or writing the store failed ({}; disk full or file size limit?)",
                                          path, message)};
    default:
      return {ErrorCode::kIo, fmt::format("{}: store error {}: {}", path, code, message)};
  }
}

std::string_view path_of(sqlite3_stmt* statement) {
  const char* name = sqlite3_db_filename(sqlite3_db_handle(statement), "main");
  return name != nullptr ? name : "";
}

}  // namespace

Status check_store_name(const std::string& path) {
  if (path.empty())
    return fail(ErrorCode::kUsage, "the name of the store is empty; name a file with --store or $OPWRIGHT_STORE");
  if (path == ":memory:" || path.starts_with("file:"))
    return fail(
        ErrorCode::kUsage,
        fmt::format("--store {}: SQLite's special names are not taken, nothing would be kept where you expect it; "
                    "name a file, or write ./{} if it is called so",
                    path, path));
  struct stat info{};
  if (stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode)) return {};
  return fail(ErrorCode::kBadInput,
              fmt::format("{}: {}, not a file; name another with --store (nothing was changed)", path,
                          S_ISDIR(info.st_mode)    ? "a folder"
                          : S_ISFIFO(info.st_mode) ? "a pipe"
                          : S_ISSOCK(info.st_mode) ? "a socket"
                                                   : "a device"));
}

Statement::~Statement() { sqlite3_finalize(handle_); }

Statement& Statement::bind(int index, std::int64_t value) {
  sqlite3_bind_int64(handle_, index, value);
  return *this;
}
Statement& Statement::bind(int index, std::string_view text) {
  sqlite3_bind_text64(handle_, index, text.data() != nullptr ? text.data() : "", text.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
  return *this;
}
Statement& Statement::bind_blob(int index, std::string_view bytes) {
  sqlite3_bind_blob64(handle_, index, bytes.data() != nullptr ? bytes.data() : "", bytes.size(), SQLITE_STATIC);
  return *this;
}
Statement& Statement::bind_null(int index) {
  sqlite3_bind_null(handle_, index);
  return *this;
}
Statement& Statement::bind_real(int index, double value) {
  if (std::isnan(value)) return bind(index, "nan");
  sqlite3_bind_double(handle_, index, value);
  return *this;
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  const Error error = code == SQLITE_DONE ? Error{} : error_of(sqlite3_db_handle(handle_), path_of(handle_), code);
  sqlite3_reset(handle_);
  if (code == SQLITE_DONE) return false;
  return fail(error);
}

Status Statement::run() {
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool row, step());
    if (!row) return {};
  }
}

void Statement::reset() { sqlite3_reset(handle_); }

Statement::Kind Statement::kind(int column) const { return cell(column).kind; }
Statement::Cell Statement::cell(int column) const {
  sqlite3_value* value = sqlite3_column_value(handle_, column);  // a connection belongs to one thread
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
      return {Kind::kInteger, sqlite3_value_int64(value)};
    case SQLITE_FLOAT:
      return {Kind::kReal, 0, sqlite3_value_double(value)};
    case SQLITE_TEXT: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
      return {Kind::kText, 0, 0, {text != nullptr ? text : "", static_cast<std::size_t>(sqlite3_value_bytes(value))}};
    }
    case SQLITE_BLOB: {
      const auto* blob = static_cast<const char*>(sqlite3_value_blob(value));
      return {Kind::kBlob, 0, 0, {blob != nullptr ? blob : "", static_cast<std::size_t>(sqlite3_value_bytes(value))}};
    }
    default:
      return {Kind::kNull};
  }
}
std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle_, column); }
double Statement::real(int column) const {
  if (sqlite3_column_type(handle_, column) == SQLITE_TEXT) return std::numeric_limits<double>::quiet_NaN();
  return sqlite3_column_double(handle_, column);
}
std::string_view Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
  return {data != nullptr ? data : "", static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
}
std::string_view Statement::blob(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(handle_, column));
  return {data != nullptr ? data : "", static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
}
bool Statement::is_null(int column) const { return sqlite3_column_type(handle_, column) == SQLITE_NULL; }

Result<Database> Database::open(const std::string& path, Mode mode, int wait_ms) {
  // Statistics of memory would take a lock for every allocation of every connection.
  static const int configured = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  (void)configured;
  OPWRIGHT_TRY(check_store_name(path));
  if (mode == Mode::kWrite) {
    // Traces may hold what is nobody else's business. Whoever shares a store changes its mode, and it stays so.
    constexpr mode_t kOwnerOnly = 0600;
    const int made = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerOnly);
    if (made >= 0) close(made);  // else SQLite says what is wrong
  }
  sqlite3* handle = nullptr;
  const int flags = mode == Mode::kRead ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(handle, path);
  if (code != SQLITE_OK) return fail(error_of(handle, path, code));
  sqlite3_busy_timeout(handle, wait_ms);
  sqlite3_extended_result_codes(handle, 1);
  if (mode == Mode::kRead) {
    const int seen = sqlite3_exec(handle, "SELECT count(*) FROM sqlite_master", nullptr, nullptr, nullptr);
    if (seen == SQLITE_READONLY_ROLLBACK) {
      OPWRIGHT_TRY(undo_journal(path, wait_ms));
      return open(path, mode, wait_ms);
    }
    if (((seen & 0xff) == SQLITE_CANTOPEN || (seen & 0xff) == SQLITE_READONLY) && is_folded(path))
      return open_immutable(path);
  }
  return database;
}

// A reader of a WAL store writes a side file. Where it may not, the file is read as it lies, which is right as long as
// nobody can be writing it and it has neither a log nor a journal.
bool Database::is_folded(const std::string& path) {
  struct stat side{};
  return (stat((path + "-wal").c_str(), &side) != 0 || side.st_size == 0) &&
         (stat((path + "-journal").c_str(), &side) != 0 || side.st_size == 0);
}

// The power failed, or a process was killed, while the store was being made or brought up to date. SQLite undoes that
// before it reads, which needs a connection that may write.
Status Database::undo_journal(const std::string& path, int wait_ms) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(handle, path);
  if (code != SQLITE_OK) return fail(error_of(handle, path, code));
  sqlite3_busy_timeout(handle, wait_ms);
  return database.execute("SELECT count(*) FROM sqlite_master");
}

Result<Database> Database::open_immutable(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '?' || c == '#' || c == '%')
      uri += fmt::format("%{:02x}", static_cast<unsigned>(c));
    else
      uri += c;
  }
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2((uri + "?immutable=1").c_str(), &handle,
                                   SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, nullptr);
  Database database(handle, path);
  if (code != SQLITE_OK) return fail(error_of(handle, path, code));
  return database;
}

Database::~Database() { sqlite3_close_v2(handle_); }

Status Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return fail(error_of(handle_, path_, code));
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                      &statement, nullptr);
  if (code != SQLITE_OK) return fail(error_of(handle_, path_, code));
  return Statement(statement);
}

std::int64_t Database::changes() const { return sqlite3_changes64(handle_); }

Status Database::use_log() { return execute("PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON"); }

Status Database::wait_for_disk(bool waits) {
  return execute(waits ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
}

Result<std::int64_t> Database::query_integer(std::string_view sql) {
  OPWRIGHT_TRY_ASSIGN(Statement statement, prepare(sql));
  OPWRIGHT_TRY_ASSIGN(const bool row, statement.step());
  return row ? statement.integer(0) : 0;
}

}  // namespace opwright::store::sqlite
