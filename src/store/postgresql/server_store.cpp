// Store of a server, and the small things of the door.
#include <fmt/format.h>
#include <libpq-fe.h>

#include "store/postgresql/libpq.h"
#include "store/postgresql/lookup.h"
#include "store/postgresql/reader.h"
#include "store/postgresql/results.h"
#include "store/postgresql/schema.h"
#include "store/postgresql/writer.h"
#include "store/postgresql_door.h"
#include "store/store.h"

namespace opwright::store::postgresql {
namespace {

class ServerStore final : public Store {
 public:
  explicit ServerStore(Address address) : address_(std::move(address)) {}

  Result<std::unique_ptr<store::Reader>> reader(int wait_ms, const std::string& identity) override {
    return Reader::open(address_, wait_ms, identity);
  }
  // An import commits once, and waits for the disk then, whatever is asked for.
  Result<std::unique_ptr<store::Writer>> writer(int wait_ms, const std::string& identity, Durability) override {
    return Writer::begin(address_, wait_ms, identity);
  }
  Result<std::unique_ptr<store::Lookup>> lookup(int wait_ms) override { return Lookup::open(address_, wait_ms); }
  Result<std::unique_ptr<store::ResultsReader>> results_reader(int wait_ms) override {
    return ResultsReader::open(address_, wait_ms);
  }
  Result<std::unique_ptr<store::ResultsWriter>> results_writer(int wait_ms, Durability durability) override {
    return ResultsWriter::open(address_, wait_ms, durability);
  }

 private:
  Address address_;
};

}  // namespace

Result<std::unique_ptr<Store>> store_at(std::string_view url) {
  OPWRIGHT_TRY_ASSIGN(Address address, parse_address(url));
  return std::make_unique<ServerStore>(std::move(address));
}

std::string shown(std::string_view url) {
  const auto address = parse_address(url);
  return address ? address->shown : "postgresql://…";
}

int schema_version() { return static_cast<int>(kSchemaVersion); }
std::string library_version() {
  if (!libpq_is_there()) return "";
  const int version = PQlibVersion();
  return fmt::format("{}.{}", version / 10000, version % 10000);
}

}  // namespace opwright::store::postgresql
