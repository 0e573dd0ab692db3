// Store of a file of SQLite, and the small things of the door.
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <fstream>

#include "store/sqlite/lookup.h"
#include "store/sqlite/reader.h"
#include "store/sqlite/results.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/writer.h"
#include "store/sqlite_door.h"
#include "store/store.h"

namespace opwright::store::sqlite {
namespace {

class FileStore final : public Store {
 public:
  explicit FileStore(std::string path) : path_(std::move(path)) {}

  Result<std::unique_ptr<store::Reader>> reader(int wait_ms, const std::string& identity) override {
    OPWRIGHT_TRY_ASSIGN(Reader reader, Reader::open(path_, wait_ms, identity));
    return std::make_unique<Reader>(std::move(reader));
  }
  Result<std::unique_ptr<store::Writer>> writer(int wait_ms, const std::string& identity,
                                                Durability durability) override {
    OPWRIGHT_TRY_ASSIGN(Writer writer, Writer::begin(path_, wait_ms, identity, durability));
    return std::make_unique<Writer>(std::move(writer));
  }
  Result<std::unique_ptr<store::Lookup>> lookup(int wait_ms) override {
    OPWRIGHT_TRY_ASSIGN(std::optional<Lookup> lookup, Lookup::open(path_, wait_ms));
    if (!lookup) return std::unique_ptr<store::Lookup>();
    return std::make_unique<Lookup>(*std::move(lookup));
  }
  Result<std::unique_ptr<store::ResultsReader>> results_reader(int wait_ms) override {
    OPWRIGHT_TRY_ASSIGN(ResultsReader reader, ResultsReader::open(path_, wait_ms));
    return std::make_unique<ResultsReader>(std::move(reader));
  }
  Result<std::unique_ptr<store::ResultsWriter>> results_writer(int wait_ms, Durability durability) override {
    OPWRIGHT_TRY_ASSIGN(ResultsWriter writer, ResultsWriter::open(path_, wait_ms, durability));
    return std::make_unique<ResultsWriter>(std::move(writer));
  }

 private:
  std::string path_;
};

}  // namespace

std::unique_ptr<Store> store_at(const std::string& path) { return std::make_unique<FileStore>(path); }

Result<std::string> file_of(const std::string& url) {
  OPWRIGHT_TRY_ASSIGN(Url parsed, parse_url(url));
  if (parsed.kind != Url::Kind::kSqlite)
    return fail(ErrorCode::kUnsupported,
                "only a store in an SQLite file can be looked at and repaired so; name one "
                "with --store FILE");
  return std::move(parsed.path);
}

bool is_database(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  char magic[16] = {};
  std::ifstream(path, std::ios::binary).read(magic, sizeof magic);
  return std::string_view(magic, sizeof magic) == std::string_view("SQLite format 3\0", 16);
}

int schema_version() { return kSchemaVersion; }
std::string_view library_version() { return sqlite3_libversion(); }

}  // namespace opwright::store::sqlite
