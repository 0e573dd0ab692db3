#include "store/postgresql/connection.h"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace opwright::store::postgresql {
namespace {

constexpr const char* kHowToShare = "docs/how-to/share-a-store.md tells which roles there are";

std::string first_line(std::string text) {
  text.resize(std::min(text.find('\n'), text.size()));
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

// libpq says no passwords; should it ever, nobody reads them here.
std::string without_password(std::string text, const Address& address) {
  for (const auto& [keyword, value] : address.parameters) {
    if ((keyword != "password" && keyword != "sslpassword") || value.empty()) continue;
    for (std::size_t at = text.find(value); at != std::string::npos; at = text.find(value, at + 3))
      text.replace(at, value.size(), "***");
  }
  return text;
}

bool is_one_of(std::string_view state, std::initializer_list<std::string_view> states) {
  return std::find(states.begin(), states.end(), state) != states.end();
}

}  // namespace

void Connection::Close::operator()(pg_conn* handle) const { PQfinish(handle); }

Connection::Connection(pg_conn* handle, Address address, int wait_ms)
    : handle_(handle), address_(std::move(address)), wait_ms_(wait_ms) {}

Result<Connection> Connection::open(const Address& address, int wait_ms) {
  constexpr auto kPause = std::chrono::milliseconds(50);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(wait_ms);
  while (true) {
    bool may_pass = false;
    auto opened = open_once(address, wait_ms, may_pass);
    if (opened || !may_pass || std::chrono::steady_clock::now() >= deadline) return opened;
    std::this_thread::sleep_for(kPause);
  }
}

Result<Connection> Connection::open_once(const Address& address, int wait_ms, bool& may_pass) {
  std::vector<const char*> keywords, values;
  bool has_timeout = false;
  for (const auto& [keyword, value] : address.parameters) {
    keywords.push_back(keyword.c_str());
    values.push_back(value.c_str());
    has_timeout = has_timeout || keyword == "connect_timeout";
  }
  keywords.push_back("fallback_application_name");
  values.push_back("opwright");
  keywords.push_back("client_encoding");
  values.push_back("UTF8");
  const std::string timeout = std::to_string(std::clamp(wait_ms / 1000, 2, 60));
  if (!has_timeout) {
    keywords.push_back("connect_timeout");
    values.push_back(timeout.c_str());
  }
  keywords.push_back(nullptr);
  values.push_back(nullptr);
  Connection connection(PQconnectdbParams(keywords.data(), values.data(), 0), address, wait_ms);
  pg_conn* handle = connection.handle_.get();
  if (PQstatus(handle) != CONNECTION_OK) {
    const std::string why = without_password(first_line(PQerrorMessage(handle)), address);
    for (const char* passing :
         {"starting up", "shutting down", "too many clients", "recovery mode", "remaining connection"})
      may_pass = may_pass || why.find(passing) != std::string::npos;
    return fail(ErrorCode::kIo, fmt::format("{}: cannot connect to the store: {}; is the server running, and are host, "
                                            "port, database, user and password right? Nothing was changed",
                                            address.shown, why));
  }
  PQsetNoticeProcessor(handle, [](void*, const char*) {}, nullptr);
  // A machine that is gone lets go of its locks after a minute, not after hours.
  OPWRIGHT_TRY(connection.execute(
      "SET search_path = opwright, pg_temp; SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET "
      "tcp_keepalives_count = 3; SET statement_timeout = 0"));
  return connection;
}

bool Connection::is_lost() const { return PQstatus(handle_.get()) != CONNECTION_OK; }

Error Connection::error_of(const pg_result* result) {
  const char* state = result != nullptr ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : nullptr;
  sqlstate_ = state != nullptr ? state : "";
  const char* primary = result != nullptr ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : nullptr;
  const std::string why =
      without_password(primary != nullptr ? primary : first_line(PQerrorMessage(handle_.get())), address_);
  const auto say = [&](ErrorCode code, std::string_view what, std::string_view next) {
    return Error{code, fmt::format("{}: {} ({}){}{}", name(), what, why, next.empty() ? "" : "; ", next)};
  };
  if (is_lost() || sqlstate_.starts_with("57P"))
    return say(
        ErrorCode::kIo, "the connection to the server is lost",
        "what was committed is there; run the command again when the server is back, nothing will be there twice");
  if (is_one_of(sqlstate_, {"55P03", "40P01", "40001"}))
    return {ErrorCode::kLocked, fmt::format("{}: the store is locked by another process; try again when it is done, or "
                                            "wait longer with --wait SECONDS",
                                            name())};
  if (is_one_of(sqlstate_, {"53100", "53200", "53400"}) || sqlstate_ == "58030")
    return say(ErrorCode::kIo, "the server has no room or cannot write",
               "free some space there and run the command again");
  if (sqlstate_ == "42501") return say(ErrorCode::kIo, "this user may not do that", kHowToShare);
  if (sqlstate_ == "25006")
    return say(ErrorCode::kIo, "the server only takes questions", "name the server that takes writes with --store");
  if (sqlstate_ == "42P01" || sqlstate_ == "42703")
    return say(ErrorCode::kBadInput, "a table or column of the store is missing",
               "somebody changed the schema opwright by hand; restore a backup");
  return say(ErrorCode::kIo, fmt::format("store error {}", sqlstate_), "");
}

Result<std::string> Connection::prepared(std::string_view sql, const Params& params, bool now) {
  const auto [entry, is_new] = known_.try_emplace(std::string(sql));
  if (is_new && !now) return std::string();
  if (entry->second.empty()) {
    const std::string statement = fmt::format("s{}", ++prepared_);
    const Rows made(PQprepare(handle_.get(), statement.c_str(), entry->first.c_str(), params.count(), params.types()));
    if (!made) return fail(error_of(made.raw()));
    entry->second = statement;
  }
  return entry->second;
}

Result<Rows> Connection::query(std::string_view sql, const Params& params) {
  constexpr int kBinary = 1;
  const std::vector<int> formats(static_cast<std::size_t>(params.count()), kBinary);
  const std::vector<const char*> values = params.values();
  OPWRIGHT_TRY_ASSIGN(const std::string statement, prepared(sql, params, false));
  Rows rows(statement.empty() ? PQexecParams(handle_.get(), std::string(sql).c_str(), params.count(), params.types(),
                                             values.data(), params.sizes(), formats.data(), kBinary)
                              : PQexecPrepared(handle_.get(), statement.c_str(), params.count(), values.data(),
                                               params.sizes(), formats.data(), kBinary));
  if (!rows) return fail(error_of(rows.raw()));
  return rows;
}

Status Connection::for_all(std::string_view sql, std::span<const Params> all) {
  constexpr std::size_t kAtOnce = 64;  // their answers fit into the buffers of a socket, so neither side waits for ever
  if (all.empty()) return {};
  OPWRIGHT_TRY_ASSIGN(const std::string statement, prepared(sql, all.front(), true));
  const bool alone = all.size() > kAtOnce && PQtransactionStatus(handle_.get()) == PQTRANS_IDLE;
  if (alone) OPWRIGHT_TRY(execute("BEGIN"));
  Status done;
  for (std::size_t from = 0; from < all.size() && done; from += kAtOnce) {
    if (PQenterPipelineMode(handle_.get()) != 1) return fail(error_of(nullptr));
    const auto some = all.subspan(from, std::min(kAtOnce, all.size() - from));
    for (const Params& params : some) {
      const std::vector<int> formats(static_cast<std::size_t>(params.count()), 1);
      if (PQsendQueryPrepared(handle_.get(), statement.c_str(), params.count(), params.values().data(), params.sizes(),
                              formats.data(), 1) != 1)
        done = fail(error_of(nullptr));
      if (!done) break;
    }
    const bool asked = PQpipelineSync(handle_.get()) == 1;
    bool synced = false;
    while (asked && !synced && !is_lost()) {
      const Rows answer(PQgetResult(handle_.get()));
      if (answer.raw() == nullptr) continue;  // the end of one statement
      const auto status = PQresultStatus(answer.raw());
      synced = status == PGRES_PIPELINE_SYNC;
      if (!synced && !answer && status != PGRES_PIPELINE_ABORTED && done) done = fail(error_of(answer.raw()));
    }
    if (!synced && done) done = fail(error_of(nullptr));
    PQexitPipelineMode(handle_.get());
  }
  if (!alone || is_lost()) return done;
  const Status ended = execute(done ? "COMMIT" : "ROLLBACK");
  return done ? ended : done;
}

Status Connection::execute(const std::string& sql) {
  const Rows answer(PQexec(handle_.get(), sql.c_str()));
  if (!answer) return fail(error_of(answer.raw()));
  return {};
}

Status Connection::copy(const std::string& into, CopyRows& rows) {
  if (rows.is_empty()) return {};
  {
    const Rows begun(PQexec(handle_.get(), fmt::format("COPY {} FROM STDIN WITH (FORMAT binary)", into).c_str()));
    if (PQresultStatus(begun.raw()) != PGRES_COPY_IN) return fail(error_of(begun.raw()));
  }
  bool sent = true;
  for (std::string_view part : {CopyRows::header(), std::string_view(rows.bytes()), CopyRows::trailer()}) {
    constexpr std::size_t kMost = std::size_t{1} << 24;
    for (; !part.empty() && sent; part.remove_prefix(std::min(part.size(), kMost)))
      sent = PQputCopyData(handle_.get(), part.data(), static_cast<int>(std::min(part.size(), kMost))) == 1;
  }
  sent = PQputCopyEnd(handle_.get(), nullptr) == 1 && sent;
  rows.clear();
  Status done;
  while (true) {
    const Rows answer(PQgetResult(handle_.get()));
    if (answer.raw() == nullptr) break;
    if (!answer && done) done = fail(error_of(answer.raw()));
    if (is_lost()) break;
  }
  if (done && (!sent || is_lost())) return fail(error_of(nullptr));
  return done;
}

Status lock_configurations(Connection& connection) {
  constexpr std::int64_t kLock = 0x6f70777269676874;  // "opwright"
  OPWRIGHT_TRY(connection.execute(fmt::format("SET LOCAL lock_timeout = {}", std::max(connection.wait_ms(), 1))));
  Params lock;
  lock << kLock;
  OPWRIGHT_TRY(connection.query("SELECT pg_advisory_xact_lock($1)", lock));
  return connection.execute("SET LOCAL lock_timeout = 0");
}

}  // namespace opwright::store::postgresql
