// A store, wherever it is: a file of SQLite, a server. Named by a URL; nothing is opened until it is asked for.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "store/reader.h"
#include "store/results.h"
#include "store/writer.h"

namespace opwright::store {

// Every `wait_ms` is how long another writer is waited for.
class Store {
 public:
  virtual ~Store() = default;
  // `identity` names the versions of keys and index terms; a store of other versions is refused. "": reads whatever is
  // there.
  virtual Result<std::unique_ptr<Reader>> reader(int wait_ms, const std::string& identity = "") = 0;
  // Makes the store if it is not there.
  virtual Result<std::unique_ptr<Writer>> writer(int wait_ms, const std::string& identity,
                                                 Durability durability = Durability::kConsistent) = 0;
  // None where there is no store, or an empty one.
  virtual Result<std::unique_ptr<Lookup>> lookup(int wait_ms) = 0;
  virtual Result<std::unique_ptr<ResultsReader>> results_reader(int wait_ms) = 0;
  // Makes the store if it is not there. Also waits at each add().
  virtual Result<std::unique_ptr<ResultsWriter>> results_writer(int wait_ms,
                                                                Durability durability = Durability::kSoon) = 0;
};

// How a text names a store (docs/formats/store.md):
//   sqlite:FILE, sqlite:///FOLDER/FILE    a file of SQLite, and so is every text that is no URL
//   postgresql://…, postgres://…          a database of a server of PostgreSQL
//   WORD://…                              any other: an error
struct Url {
  enum class Kind { kSqlite, kPostgresql };
  Kind kind = Kind::kSqlite;
  std::string path;  // of kSqlite: the file; of kPostgresql: all of it
};
Result<Url> parse_url(std::string_view text);
// The text as messages say it: without a password.
std::string shown(const std::string& url);

// Fails when the text names no store.
Result<std::unique_ptr<Store>> open(const std::string& url);

// The same, and what of it is wanted, in one call.
Result<std::unique_ptr<Reader>> open_reader(const std::string& url, int wait_ms, const std::string& identity = "");
Result<std::unique_ptr<Writer>> open_writer(const std::string& url, int wait_ms, const std::string& identity,
                                            Durability durability = Durability::kConsistent);
Result<std::unique_ptr<Lookup>> open_lookup(const std::string& url, int wait_ms);
Result<std::unique_ptr<ResultsReader>> open_results(const std::string& url, int wait_ms);
Result<std::unique_ptr<ResultsWriter>> open_results_writer(const std::string& url, int wait_ms,
                                                           Durability durability = Durability::kSoon);

}  // namespace opwright::store
