#include "store/conformance/server_place.h"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <unistd.h>

#include <cstdlib>

#include "store/postgresql_door.h"

namespace opwright::store {
namespace {

std::string server_url() {
  const char* url = std::getenv("OPWRIGHT_TEST_POSTGRESQL");
  return url != nullptr ? url : "";
}

// "postgresql://opwright@/postgres?…" with another database.
std::string with_database(const std::string& name) {
  std::string url = server_url();
  const std::string_view old = "/postgres?";
  return url.replace(url.find(old), old.size(), "/" + name + "?");
}

std::string ask_at(const std::string& url, const std::string& sql) {
  PGconn* connection = PQconnectdb(url.c_str());
  PGresult* answer = PQexec(connection, sql.c_str());
  const auto status = PQresultStatus(answer);
  EXPECT_TRUE(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) << sql << ": " << PQerrorMessage(connection);
  const std::string first = PQntuples(answer) > 0 ? PQgetvalue(answer, 0, 0) : "";
  PQclear(answer);
  PQfinish(connection);
  return first;
}

class Database final : public ServerPlace {
 public:
  Database() {
    static int count = 0;
    name_ = fmt::format("test_{}_{}", getpid(), count++);
    ask_at(server_url(), "CREATE DATABASE " + name_);
  }
  ~Database() override { ask_at(server_url(), fmt::format("DROP DATABASE {} WITH (FORCE)", name_)); }
  std::unique_ptr<Store> store() override { return *postgresql::store_at(url()); }
  std::string url() const override { return with_database(name_); }
  std::string ask(const std::string& sql) override { return ask_at(url(), sql); }

 private:
  std::string name_;
};

}  // namespace

std::string no_server() {
  return server_url().empty() ? "no server: $OPWRIGHT_TEST_POSTGRESQL names none (tools/test_postgresql.py starts one)"
                              : "";
}

std::unique_ptr<ServerPlace> server_place() { return std::make_unique<Database>(); }

}  // namespace opwright::store
