// A connection to the server: every failure becomes an Error that says which store and what to do, and never holds a
// password. Belongs to one thread at a time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "store/postgresql/address.h"
#include "store/postgresql/wire.h"

struct pg_conn;

namespace opwright::store::postgresql {

class Connection {
 public:
  // Waits up to `wait_ms` for a server that is starting, or has all its connections in use.
  static Result<Connection> open(const Address& address, int wait_ms);

  // One statement. What comes a second time is prepared.
  Result<Rows> query(std::string_view sql, const Params& params = {});
  // The same statement for each of these, sent together: all of them or none, where no transaction is open.
  Status for_all(std::string_view sql, std::span<const Params> all);
  // Statements without parameters.
  Status execute(const std::string& sql);
  // Into "table (columns)"; the rows are gone afterwards.
  Status copy(const std::string& into, CopyRows& rows);

  // The server, or the way to it, is gone: only a new connection helps.
  bool is_lost() const;
  // Of the statement that failed last; "" where the server said nothing.
  const std::string& sqlstate() const { return sqlstate_; }
  const std::string& name() const { return address_.shown; }
  const Address& address() const { return address_; }
  int wait_ms() const { return wait_ms_; }

 private:
  struct Close {
    void operator()(pg_conn* handle) const;
  };
  Connection(pg_conn* handle, Address address, int wait_ms);
  static Result<Connection> open_once(const Address& address, int wait_ms, bool& may_pass);
  Error error_of(const pg_result* result);
  // The name under which the statement is prepared; "" where it comes for the first time.
  Result<std::string> prepared(std::string_view sql, const Params& params, bool now);
  std::unique_ptr<pg_conn, Close> handle_;
  Address address_;
  int wait_ms_ = 0;
  std::string sqlstate_;
  int prepared_ = 0;
  std::unordered_map<std::string, std::string> known_;  // text -> name under which it is prepared; "" not yet
};

// Waits up to connection.wait_ms() for the lock that writers of configurations hand on. In the open transaction.
Status lock_configurations(Connection& connection);

}  // namespace opwright::store::postgresql
